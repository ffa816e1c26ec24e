/** The Japanese texts, in the polite form (です・ます). */

import type { Catalogue } from './catalogue.ts';

export const ja: Catalogue = {
  problems: {
    'malformed-request': {
      title: 'リクエストの形式が不正です',
      detail: 'リクエストが文書化された形式に従っていません。APIの説明と照らし合わせ、指摘された箇所があれば修正してください。',
    },
    'invalid-key': {
      title: 'エンティティのキーが不正です',
      detail: 'キーは64ビット整数を10進数で表したものにしてください。先頭のゼロ、プラス記号、空白は使用できません。',
    },
    'ambiguous-credentials': {
      title: '認証情報があいまいです',
      detail: 'リクエストに複数の認証情報が含まれています。いずれか1つだけを送信してください。',
    },
    'sign-in-failed': {
      title: 'サインインできませんでした',
      detail:
        'プロバイダーでのサインインが完了しませんでした。取り消されたか、時間がかかりすぎたか、別のブラウザーで開始されたか、プロバイダーの応答が無効だった可能性があります。最初からやり直してください。再び失敗する場合は、運用者に理由を問い合わせてください。',
    },
    unauthenticated: {
      title: '認証が必要です',
      detail:
        '認証情報がないか、不明、期限切れ、または失効しているか、セッションが終了しています。サインインするか、APIキーまたはアクセストークンを送信してください。',
    },
    'invalid-credentials': {
      title: '認証情報が正しくありません',
      detail: '認証情報が正しくないか、すでに無効です。確認してからもう一度お試しください。',
    },
    'invalid-token': {
      title: 'アクセストークンが無効です',
      detail:
        'アクセストークンの形式が不正か、有効期限が切れているか、このサービス向けのものではありません。発行元から新しいトークンを取得してください。',
    },
    forbidden: {
      title: '許可されていない操作です',
      detail:
        '現在のロールまたは認証方法では、この操作は許可されていません。別のプロファイルに切り替えるか、別の方法でサインインするか、管理者に権限の付与を依頼してください。',
    },
    'insufficient-scope': {
      title: 'スコープが不足しています',
      detail: 'ご使用の認証情報のスコープにこの操作は含まれていません。必要なスコープを持つ認証情報を使用してください。',
    },
    'csrf-rejected': {
      title: '他のサイトからのリクエストを拒否しました',
      detail:
        'リクエストが別のウェブサイトから送信されたようです。アプリケーション自体から送信するか、送信元のオリジンを信頼するよう運用者に依頼してください。',
    },
    'credential-mismatch': {
      title: '現在のパスワードが正しくありません',
      detail: '現在のパスワードが正しくありません。もう一度入力してください。セッションは引き続き有効です。',
    },
    'identity-not-linked': {
      title: 'アカウントに関連付けられていません',
      detail: '本人確認は完了しましたが、このサービスのユーザーに関連付けられていません。管理者に関連付けを依頼してください。',
    },
    'fresh-login-required': {
      title: '再度のサインインが必要です',
      detail: 'この操作を行うには、最近サインインしている必要があります。もう一度サインインしてから、操作をやり直してください。',
    },
    'not-found': {
      title: '見つかりません',
      detail: 'このアドレスには何も見つからないか、閲覧できません。パス、名前、キーを確認してください。',
    },
    'method-not-allowed': {
      title: '許可されていないメソッドです',
      detail: 'このアドレスはリクエストのメソッドに対応していません。対応しているメソッド[（{allowed}）]を使用してください。',
    },
    'not-acceptable': {
      title: '受け入れ可能な形式がありません',
      detail: '受け入れ可能と指定された形式では応答できません。対応している形式[（{allowed}）]を受け入れるように指定してください。',
    },
    'request-timeout': {
      title: 'リクエストがタイムアウトしました',
      detail: 'リクエストが時間内にすべて届きませんでした。もう一度送信してください。',
    },
    conflict: {
      title: '競合が発生しました',
      detail: 'リクエストが既存のデータと競合しています。現在の状態を取得し、リクエストを調整してください。',
    },
    'last-sign-in-method': {
      title: '最後のサインイン手段です',
      detail:
        'この関連付けを解除すると、サインインできなくなります。先に別のIDを関連付けるか、管理者にパスワードの設定を依頼してください。',
    },
    'refresh-conflict': {
      title: 'セッションはすでに更新されています',
      detail: '別のリクエストがこのセッションをすでに更新しました。そのリクエストが受け取ったCookieを引き続き使用してください。',
    },
    'type-conflict': {
      title: '型を適用できません',
      detail: '保存済みのエンティティがこの型に適合しないか、上限を超えています。変更計画に一覧があります。',
    },
    'unique-conflict': {
      title: '値はすでに使用されています',
      detail: '一意のフィールドに同じ値を持つエンティティがほかにあります。別の値を使うか、そのエンティティを変更してください。',
    },
    'still-referenced': {
      title: 'まだ参照されています',
      detail: 'ほかのエンティティがこのエンティティを参照しています。先にそれらを削除するか、参照を変更してください。',
    },
    'position-gone': {
      title: 'この時点は利用できません',
      detail: 'この時点の状態は、もう保存されていないか、初めから存在しません。より新しい時点を指定してください。',
    },
    'confirmation-required': {
      title: '確認が必要です',
      detail:
        'この変更により、型または保存済みのバージョンが削除されます。変更計画を読み、そのダイジェストを付けてリクエストを再送してください。',
    },
    'idempotency-in-progress': {
      title: '処理中です',
      detail:
        'このIdempotency-Keyを持つ別のリクエストがまだ処理中です。結果を得るには、[{seconds}後に]同じリクエストをもう一度送信してください。',
    },
    'answer-gone': {
      title: '応答はもう利用できません',
      detail:
        'このIdempotency-Keyを持つリクエストはすでに一度実行されており、その応答はもう保存されていません。エンティティを取得してください。',
    },
    'precondition-failed': {
      title: '前提条件が満たされていません',
      detail: '取得後にエンティティが変更されています。もう一度取得し、新しいETagをIf-Matchに指定して変更をやり直してください。',
    },
    'content-too-large': {
      title: 'コンテンツが大きすぎます',
      detail: 'リクエストの本文、または保存されるエンティティが大きすぎます。[{limit}以下に]小さくして送信してください。',
    },
    'uri-too-long': {
      title: 'URIが長すぎます',
      detail: 'リクエストのアドレスが長すぎます。[{limit}以下に]短くしてください。',
    },
    'unsupported-media-type': {
      title: '対応していないメディアタイプです',
      detail:
        '本文のコンテンツタイプ、文字セット、またはコンテンツエンコーディングには対応していません。対応しているコンテンツタイプ[（{allowed}）]を使用してください。',
    },
    'validation-failed': {
      title: '検証に失敗しました',
      detail: 'リクエストの形式は正しいものの、受け入れられない値があります。指摘された箇所を修正して、もう一度送信してください。',
    },
    'password-rejected': {
      title: 'パスワードが拒否されました',
      detail: '新しいパスワードが要件を満たしていません。示された理由を参考に、別のパスワードを選んでください。',
    },
    'idempotency-key-reused': {
      title: 'Idempotency-Keyは使用済みです',
      detail:
        'このIdempotency-Keyは別のリクエストで使用されています。新しいリクエストには新しいキーを使い、再送するときは元と同じリクエストを送信してください。',
    },
    'query-too-expensive': {
      title: 'クエリの負荷が高すぎます',
      detail: 'このクエリは負荷が高すぎます。フィルターを絞り込むか、$key で並べ替えるか、件数の取得をやめてください。',
    },
    'precondition-required': {
      title: '前提条件の指定が必要です',
      detail:
        'この変更には前提条件が必要です。変更対象のETagをIf-Matchに、バッチではバージョンをifMatchに、新規作成ではIf-None-Match: *を指定してください。',
    },
    'rate-limited': {
      title: 'リクエストが多すぎます',
      detail: 'リクエストまたは試行の回数が多すぎます。時間をおいて、[{seconds}後に]もう一度お試しください。',
    },
    'headers-too-large': {
      title: 'ヘッダーフィールドが大きすぎます',
      detail: 'リクエストのヘッダーフィールドが大きすぎます。[合計で{limit}以下に]短くしてください。',
    },
    'internal-error': {
      title: '内部エラーが発生しました',
      detail: 'サービスで予期しないエラーが発生しました。繰り返し発生する場合は、「instance」の値を運用者にお知らせください。',
    },
    unavailable: {
      title: 'サービスを利用できません',
      detail: '現在、サービスは応答できません。[{seconds}後に]もう一度お試しください。',
    },
    busy: {
      title: 'サービスが混み合っています',
      detail: '現在、サービスが混み合っています。[{seconds}後に]もう一度お試しください。',
    },
    'issuer-unavailable': {
      title: '発行元に接続できません',
      detail: '現在、本人確認を行う発行元に接続できません。[{seconds}後に]もう一度お試しください。',
    },
    'outcome-unknown': {
      title: '結果を確認できません',
      detail:
        '結果が確定する前に接続が失われたため、変更が行われたかどうかは不明です。' +
        'リクエストをやり直す前に、[{seconds}後に]現在の状態を確認してください。',
    },
  },
  faults: {
    unknown: 'この名前は定義されていません。つづりを確認するか、削除してください。[代わりに {instead} と書いてください。]',
    repeated: 'この項目は1回しか指定できません。',
    required: 'この項目は必須です。',
    conflicting: 'この項目は、リクエストの他の値と組み合わせることができません。',
    'invalid-value': 'この値は受け入れられません。[使用できる値：{allowed}。][最小値：{minimum}。][最大値：{maximum}。]',
    'invalid-type': 'この値の型が正しくありません。[正しい型：{allowed}。]',
    'invalid-encoding':
      'この項目は正しくエンコードされていません。UTF-8を使用し、必要な場合は正しいパーセントエンコーディングを使用してください。',
    'too-short': 'この項目は短すぎます。[最小の長さ：{minimum}。]',
    'too-long': 'この項目は長すぎます。[最大の長さ：{maximum}。]',
    'invalid-json': 'これは正しいJSONではありません。[エラーの位置：{position}。]',
    'invalid-csv': 'この行は正しいCSVではありません。引用符が足りないか、位置が誤っています。',
    'cell-count': 'この行のセルの数が見出しの行と一致しません。',
    'duplicate-member': 'このオブジェクトには同じ名前のメンバーが2つあります。1つだけにしてください。',
    'number-not-exact': 'この数値は正確に保存できません。桁数を減らすか、文字列として送信してください。',
    'nul-character': 'テキストに文字U+0000を含めることはできません。',
    'lone-surrogate': 'テキストに不完全なサロゲートペアを含めることはできません。',
    'too-deep': '入れ子が深すぎます。[最大の深さ：{limit}。]',
    'too-many-values': '値の数が多すぎます。[最大数：{limit}。]',
    'member-name-too-long': 'このオブジェクトには、名前が長すぎるメンバーがあります。[最大の長さ：{limit}。]',
    'member-name-reserved': 'このメンバーの名前は予約されています。別の名前を使用してください。',
    'invalid-cursor': 'このカーソルはこの一覧のものではありません。カーソルなしで最初からやり直してください。',
    'unknown-field':
      'このエンティティの型にはこのフィールドがありません[：{name}]。綴りを確認してください。[代わりに {instead} と書いてください。]',
    'unknown-operator': 'この演算子はありません。綴りを確認してください。[代わりに {instead} と書いてください。]',
    'not-filterable': 'この型のフィールドはこのようには使えません。[対応している演算子：{allowed}。]',
    'not-addressable':
      '$ で始まる名前はフィールドではありません。フィルターと並べ替えでは $key、$version、$createdAt、$createdBy、$updatedAt、$updatedBy を使えます。',
    'not-a-reference': 'このフィールドは参照ではないため、エンティティにつながりません。[参照：{allowed}。]',
    'needs-index': 'これにはインデックスが必要です。[フィールド：{fields}。]',
    'too-many-tests': 'フィルターの条件が多すぎます。[上限：{limit}。]',
    'duplicate-value': 'この値を持つエンティティがほかにあります。[次のフィールドの組み合わせは一意です：{fields}。]',
    'reference-not-found': 'このキーのエンティティは存在しません。',
    referenced:
      'ほかのエンティティまたは型がこれを参照しています。[参照している型：{types}。][参照しているエンティティ（{name}）の数：{count}。]',
    'too-common': 'このパスワードはよく使われるものです。あまり使われていないものを選んでください。',
    'too-predictable': 'このパスワードは推測されやすい規則に沿っています。繰り返しや連続した文字を避けてください。',
    'contains-context': 'このパスワードにはユーザーまたはサービスの名前が含まれています。そのような語は使用しないでください。',
    breached:
      'このパスワードは漏えいしたデータに含まれています。別のものを選び、同じパスワードを使用している他の場所でも変更してください。',
    unchanged: '新しいパスワードが現在のものと同じです。別のパスワードを選んでください。',
    'not-repeated-exactly': '確認用の入力が新しいパスワードと一致しません。同じパスワードを2回入力してください。',
    refused: '拒否された操作です。',
    'not-supported':
      'ここではサポートされていません。[値の補完も項目の非表示も行われないため、効果がありません。{removed} を削除してください。][代わりに {instead} と書いてください。][運用者がデータベースで実行する必要があります: {statement}。]',
    contradictory: 'これは別のキーワードと矛盾します[：{keyword}]。',
  },
  expected: {
    'one-of': '次のいずれか：[{values}]',
    format: '[{format}][（例えば {example}）][、または {other}]',
    integer: '[{minimum}] 以上[ {maximum} 以下]の整数',
    characters: '[次の文字を {count} 文字：{characters}][（先頭は {first}）][（例えば {example}）][、または {other}]',
    'no-control-characters': '制御文字を含まない文字列',
    pattern: '[{pattern}] に一致する文字列',
    'at-least': '[{limit}] 以上の値',
    'at-most': '[{limit}] 以下の値',
    'more-than': '[{limit}] より大きい値',
    'less-than': '[{limit}] より小さい値',
    'multiple-of': '[{limit}] の倍数',
    'minimum-length': '最小の長さ：[{limit}]',
    'maximum-length': '最大の長さ：[{limit}]',
    'minimum-items': '項目数の下限：[{limit}]',
    'maximum-items': '項目数の上限：[{limit}]',
    'minimum-members': 'メンバー数の下限：[{limit}]',
    'maximum-members': 'メンバー数の上限：[{limit}]',
    'different-items': '重複のない項目',
  },
  page: { retry: '最初からやり直す', back: 'アプリケーションに戻る' },
};
