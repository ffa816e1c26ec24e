/** The French texts. They address the reader with “vous”; the space before a colon is a no-break space. */

import type { Catalogue } from './catalogue.ts';

export const fr: Catalogue = {
  problems: {
    'malformed-request': {
      title: 'Requête mal formée',
      detail:
        'La requête n’a pas la forme documentée. Comparez-la à la description de l’API et corrigez, le cas échéant, les éléments signalés.',
    },
    'invalid-key': {
      title: 'Clé d’entité non valide',
      detail: 'La clé doit être un entier de 64 bits en chiffres décimaux, sans zéros initiaux, signe plus ni espaces.',
    },
    'ambiguous-credentials': {
      title: 'Identifiants ambigus',
      detail: 'La requête contient plusieurs moyens d’authentification. Envoyez-en exactement un.',
    },
    'sign-in-failed': {
      title: 'Échec de la connexion',
      detail:
        'La connexion auprès du fournisseur n’a pas abouti : elle a été annulée, a pris trop de temps, a été commencée dans un autre navigateur, ou la réponse du fournisseur n’est pas valide. Recommencez. Si elle échoue de nouveau, demandez la raison à l’exploitant.',
    },
    unauthenticated: {
      title: 'Authentification requise',
      detail:
        'Les moyens d’authentification manquent, sont inconnus, expirés ou révoqués, ou la session est terminée. Connectez-vous, ou envoyez une clé d’API ou un jeton d’accès.',
    },
    'invalid-credentials': {
      title: 'Identifiants incorrects',
      detail: 'Les identifiants sont incorrects ou ne sont plus valables. Vérifiez-les et réessayez.',
    },
    'invalid-token': {
      title: 'Jeton d’accès non valide',
      detail: 'Le jeton d’accès est mal formé, a expiré ou n’est pas destiné à ce service. Demandez-en un nouveau à son émetteur.',
    },
    forbidden: {
      title: 'Opération non autorisée',
      detail:
        'Vos rôles ou votre mode d’authentification n’autorisent pas cette opération. Changez de profil, connectez-vous autrement ou demandez les droits nécessaires à l’administration du service.',
    },
    'field-forbidden': {
      title: 'Champ non autorisé',
      detail:
        'Vos droits n’autorisent pas cette valeur d’un champ. Chaque erreur nomme un champ. Omettez-le ou demandez les droits nécessaires à l’administration du service.',
    },
    'insufficient-scope': {
      title: 'Portée insuffisante',
      detail:
        'Les portées (scopes) de votre moyen d’authentification ne couvrent pas cette opération. Utilisez-en un qui dispose des portées nécessaires.',
    },
    'csrf-rejected': {
      title: 'Requête d’un autre site refusée',
      detail:
        'La requête semble provenir d’un autre site web. Envoyez-la depuis l’application elle-même, ou demandez à l’exploitant d’approuver son origine.',
    },
    'credential-mismatch': {
      title: 'Mot de passe actuel refusé',
      detail: 'Le mot de passe actuel est incorrect. Saisissez-le de nouveau ; votre session reste valable.',
    },
    'identity-not-linked': {
      title: 'Identité non associée',
      detail:
        'Votre identité a été confirmée, mais elle n’est associée à aucun compte de ce service. Demandez à l’administration du service de l’associer.',
    },
    'fresh-login-required': {
      title: 'Connexion récente requise',
      detail: 'Cette opération exige une connexion récente. Reconnectez-vous, puis répétez-la.',
    },
    'not-found': {
      title: 'Introuvable',
      detail: 'Rien ne se trouve à cette adresse, ou vous n’y avez pas accès. Vérifiez le chemin, le nom et la clé.',
    },
    'method-not-allowed': {
      title: 'Méthode non autorisée',
      detail: 'Cette adresse n’accepte pas la méthode de la requête. Utilisez une méthode acceptée[ : {allowed}].',
    },
    'not-acceptable': {
      title: 'Aucun format acceptable',
      detail: 'Aucun des formats que vous acceptez ne peut être produit. Acceptez un format disponible[ : {allowed}].',
    },
    'request-timeout': {
      title: 'Délai de la requête dépassé',
      detail: 'La requête n’est pas arrivée en entier à temps. Envoyez-la de nouveau.',
    },
    conflict: {
      title: 'Conflit',
      detail: 'La requête est incompatible avec des données existantes. Consultez l’état actuel et adaptez la requête.',
    },
    'last-sign-in-method': {
      title: 'Dernier moyen de connexion',
      detail:
        'Sans ce lien, vous ne pourriez plus vous connecter. Liez d’abord une autre identité ou demandez à l’administration du service de définir un mot de passe pour vous.',
    },
    'refresh-conflict': {
      title: 'Session déjà renouvelée',
      detail: 'Une autre requête a déjà renouvelé cette session. Continuez avec le cookie que cette requête a reçu.',
    },
    'type-conflict': {
      title: 'Type non applicable',
      detail:
        'Des entités enregistrées ne sont pas conformes à ce type, ou une limite est dépassée. Le plan de la modification les énumère.',
    },
    'unique-conflict': {
      title: 'Valeur déjà utilisée',
      detail: 'Une autre entité a la même valeur dans un champ unique. Utilisez une autre valeur ou modifiez cette entité.',
    },
    'still-referenced': {
      title: 'Encore référencée',
      detail: 'D’autres entités font référence à celle-ci. Supprimez-les ou modifiez d’abord leurs références.',
    },
    'older-version': {
      title: 'Une version plus ancienne s’exécute encore',
      detail:
        'Des processus d’une version plus ancienne, qui ne peuvent pas appliquer ce droit, s’exécutent encore[ : {hosts}]. Répétez la requête quand ils seront terminés.',
    },
    'in-use': {
      title: 'En cours d’utilisation',
      detail: 'Des règles de ces rôles l’utilisent[ : {roles}]. Modifiez ou retirez d’abord ces règles.',
    },
    'position-gone': {
      title: 'N’est plus disponible',
      detail: 'L’état à ce moment n’est plus enregistré ou n’a jamais existé. Demandez un moment plus récent.',
    },
    'confirmation-required': {
      title: 'Confirmation requise',
      detail:
        'Cette modification supprime un type ou des versions enregistrées, ou masque ou montre un champ. Lisez son plan et répétez la requête avec l’empreinte de ce plan.',
    },
    'idempotency-in-progress': {
      title: 'Encore en cours',
      detail:
        'Une autre requête avec cet Idempotency-Key est encore en cours. Renvoyez la vôtre, inchangée,[ dans {seconds}] pour en obtenir le résultat.',
    },
    'answer-gone': {
      title: 'Réponse plus disponible',
      detail: 'Cet Idempotency-Key a déjà pris effet une fois, et sa réponse n’est plus enregistrée : récupérez l’entité.',
    },
    'precondition-failed': {
      title: 'Condition préalable non remplie',
      detail:
        'L’entité a été modifiée depuis votre lecture. Relisez-la, puis répétez votre modification avec le nouvel ETag dans If-Match.',
    },
    'content-too-large': {
      title: 'Contenu trop volumineux',
      detail:
        'Le corps de la requête, ou l’entité telle qu’elle serait enregistrée, est trop volumineux. Envoyez-en moins[ (au plus {limit})].',
    },
    'uri-too-long': {
      title: 'URI trop long',
      detail: 'L’adresse de la requête est trop longue. Raccourcissez-la[ (au plus {limit})].',
    },
    'unsupported-media-type': {
      title: 'Type de contenu non pris en charge',
      detail:
        'Le type, le jeu de caractères ou l’encodage du contenu n’est pas pris en charge ici. Utilisez un type pris en charge[ : {allowed}].',
    },
    'validation-failed': {
      title: 'Échec de la validation',
      detail:
        'La requête est bien formée, mais certaines de ses valeurs ne sont pas acceptées. Corrigez les éléments signalés et renvoyez-la.',
    },
    'password-rejected': {
      title: 'Mot de passe refusé',
      detail: 'Le nouveau mot de passe ne répond pas aux exigences. Choisissez-en un autre en tenant compte des motifs indiqués.',
    },
    'idempotency-key-reused': {
      title: 'Idempotency-Key déjà utilisé',
      detail:
        'Cet Idempotency-Key a été utilisé pour une autre requête. Prenez-en un nouveau pour une nouvelle requête, répétez une requête sans la modifier.',
    },
    'query-too-expensive': {
      title: 'Requête trop coûteuse',
      detail: 'La requête coûterait trop. Restreignez le filtre, triez par $key ou renoncez au comptage.',
    },
    'too-many-refusals': {
      title: 'Trop de lignes refusées',
      detail:
        'L’importation s’est terminée parce qu’elle a refusé trop de lignes.[ Limite : {limit}.] Corrigez le fichier, ou continuez après la dernière ligne avec fromRow.',
    },
    'too-many-rows': {
      title: 'Trop de lignes',
      detail:
        'L’importation s’est terminée parce que le fichier a plus de valeurs uniques qu’il n’en est comparé.[ Limite : {limit}.] Continuez après la dernière ligne avec fromRow.',
    },
    'precondition-required': {
      title: 'Condition préalable requise',
      detail:
        'Cette modification exige une condition préalable : l’ETag de ce qu’elle modifie dans If-Match, dans un lot la version dans ifMatch, ou If-None-Match avec * pour créer.',
    },
    'rate-limited': {
      title: 'Trop de requêtes',
      detail: 'Les requêtes ou les tentatives ont été trop nombreuses. Patientez[ {seconds}] avant de réessayer.',
    },
    'headers-too-large': {
      title: 'En-têtes trop volumineux',
      detail: 'Les en-têtes de la requête sont trop volumineux. Raccourcissez-les[ (au plus {limit} au total)].',
    },
    'internal-error': {
      title: 'Erreur interne',
      detail:
        'Une erreur inattendue s’est produite dans le service. Si elle se répète, communiquez à l’exploitant la valeur de « instance ».',
    },
    unavailable: {
      title: 'Service indisponible',
      detail: 'Le service ne peut pas répondre pour le moment. Veuillez réessayer[ dans {seconds}].',
    },
    busy: {
      title: 'Service saturé',
      detail: 'Le service est saturé pour le moment. Veuillez réessayer[ dans {seconds}].',
    },
    'issuer-unavailable': {
      title: 'Émetteur injoignable',
      detail: 'L’émetteur qui atteste votre identité est injoignable pour le moment. Veuillez réessayer[ dans {seconds}].',
    },
    'outcome-unknown': {
      title: 'Résultat inconnu',
      detail:
        'La connexion a été perdue avant que le résultat soit connu : la modification a peut-être eu lieu, peut-être pas. ' +
        'Vérifiez l’état actuel[ dans {seconds}] avant de répéter la requête.',
    },
  },
  faults: {
    unknown: 'Ce nom n’est pas connu ici. Vérifiez son orthographe ou retirez-le.[ Écrivez {instead} à la place.]',
    repeated: 'Cet élément ne peut être indiqué qu’une seule fois.',
    'other-header': 'Cet identifiant se transmet dans un autre en-tête.[ Envoyez-le comme {header}.]',
    required: 'Cet élément est obligatoire.',
    conflicting: 'Cet élément ne peut pas être combiné avec les autres valeurs de la requête.',
    'invalid-value': 'Cette valeur n’est pas acceptée.[ Valeurs acceptées : {allowed}.][ Minimum : {minimum}.][ Maximum : {maximum}.]',
    'invalid-type': 'Cette valeur n’est pas du bon type.[ Type attendu : {allowed}.]',
    'invalid-encoding': 'Cet élément n’est pas encodé correctement. Utilisez UTF-8 et, s’il y a lieu, un encodage pour-cent valide.',
    'too-short': 'Cet élément est trop court.[ Longueur minimale : {minimum}.]',
    'too-long': 'Cet élément est trop long.[ Longueur maximale : {maximum}.]',
    'invalid-json': 'Ceci n’est pas du JSON valide.[ L’erreur se trouve à la position {position}.]',
    'invalid-csv': 'Cette ligne n’est pas du CSV valide : un guillemet manque ou est mal placé.',
    'cell-count': 'Cette ligne n’a pas autant de cellules que l’en-tête.',
    'unnamed-column': 'La cellule a une valeur, mais sa colonne n’a pas de nom dans l’en-tête. Nommez la colonne, ou appelez-la $ignore.',
    'other-delimiter': 'L’en-tête semble avoir un autre séparateur.[ Donnez à delimiter la valeur {delimiter}.]',
    'other-database':
      'Le fichier vient d’une autre base de données, où ceci appartient à une autre entité qu’ici.[ Nommez l’entité par ses valeurs : {instead}.]',
    'duplicate-member': 'Cet objet a deux membres du même nom. N’en gardez qu’un.',
    'number-not-exact': 'Ce nombre ne peut pas être enregistré exactement. Utilisez moins de chiffres ou envoyez-le sous forme de chaîne.',
    'nul-character': 'Un texte ne doit pas contenir le caractère U+0000.',
    'lone-surrogate': 'Un texte ne doit pas contenir de paire de substitution (surrogate) incomplète.',
    'too-deep': 'L’imbrication est trop profonde.[ Profondeur maximale : {limit}.]',
    'too-many-values': 'Il y a trop de valeurs.[ Nombre maximal : {limit}.]',
    'too-costly': 'La vérification prend trop de temps. Raccourcissez ou simplifiez ceci.',
    'type-too-costly': 'Les motifs du type prennent trop de temps à vérifier. Déclarez-le avec des motifs plus simples.',
    'type-not-supported':
      'Cette version ne peut pas vérifier de champs avec ce type. Déclarez-le de nouveau ; « doctor » indique ce qu’il faut changer.',
    'member-name-too-long': 'Un membre de cet objet a un nom trop long.[ Longueur maximale : {limit}.]',
    'member-name-reserved': 'Le nom de ce membre est réservé. Utilisez-en un autre.',
    'invalid-cursor': 'Ce curseur n’appartient pas à cette liste. Recommencez sans lui.',
    'unknown-field': 'Le type de l’entité n’a pas ce champ[ : {name}]. Vérifiez son orthographe.[ Écrivez plutôt {instead}.]',
    'unknown-operator': 'Cet opérateur n’existe pas. Vérifiez son orthographe.',
    'unknown-variable': 'Cette variable n’existe pas. Vérifiez son orthographe.',
    'not-writable': 'Vos droits ne permettent pas d’écrire ce champ.',
    'value-forbidden': 'Vos droits n’autorisent pas cette valeur.',
    'not-filterable': 'Un champ de ce type ne peut pas être utilisé ainsi.[ Opérateurs pris en charge : {allowed}.]',
    'not-addressable':
      'Un nom qui commence par $ n’est pas un champ. Les filtres et les tris peuvent utiliser $key, $version, $createdAt, $createdBy, $updatedAt et $updatedBy.',
    'not-a-reference': 'Ce champ n’est pas une référence et ne mène à aucune entité.[ Références : {allowed}.]',
    'needs-index':
      'Un index est nécessaire.[ La règle couvre {share} % des entités.][ Champs : {fields}.][ Ajoutez {entry} à x-index.][ Chemin d’accès : {path}.]',
    'time-limit': 'Cela a pris trop de temps. Cela peut réussir plus tard ; un filtre plus étroit ou un index l’accélère.',
    'too-many-tests':
      'Le filtre a trop de conditions.[ Nombre maximal : {limit}.][ Rôle : {role}.][ Profil : {profile}.][ Règles pour : {rules}.]',
    'duplicate-value':
      'Une autre entité a cette valeur.[ C’est celle de la ligne {row} du fichier.][ Sa clé est {key}.][ Son nom est {label}.][ Ces champs sont uniques ensemble : {fields}.]',
    'reference-not-found': 'Il n’existe aucune entité avec cette clé.',
    referenced: 'D’autres entités ou types font référence à cet élément.[ Types : {types}.][ Entités nommées {name} : {count}.]',
    'too-many-referrers':
      'Plus de [{limit}] entités seraient supprimées ou modifiées avec elle. Supprimez-les ou modifiez-les d’abord par lots, ou utilisez purge, qui le fait de lui-même.',
    'partly-done':
      'Des entités qui y faisaient référence ont été supprimées ou modifiées[ : {count}].[ La même requête continue avec le reste dans {seconds}.]',
    'too-common': 'Ce mot de passe est trop courant. Choisissez-en un moins répandu.',
    'too-predictable': 'Ce mot de passe suit un schéma prévisible. Évitez les répétitions et les suites.',
    'contains-context': 'Ce mot de passe contient le nom du compte ou celui du service. Évitez ces mots.',
    breached: 'Ce mot de passe figure dans une fuite de données. Choisissez-en un autre et changez-le partout où vous l’utilisez.',
    unchanged: 'Le nouveau mot de passe est identique à l’actuel. Choisissez-en un autre.',
    'not-repeated-exactly': 'La confirmation diffère du nouveau mot de passe. Saisissez deux fois le même mot de passe.',
    refused: 'C’est l’opération qui a été refusée.',
    'not-supported':
      'Le service ne prend pas cela en charge ici.[ Cela n’aurait aucun effet : le service ne complète aucune valeur et ne masque aucun champ. Retirez {removed}.][ Retirez {surplus}.][ Écrivez {instead} à la place.][ L’exploitant doit exécuter ceci dans la base de données : {statement}.]',
    contradictory: 'Ceci contredit un autre mot-clé[ : {keyword}].',
    absent:
      'Ceci n’existe pas.[ Il n’existe pas d’utilisateur {user}.][ Il n’existe pas de rôle {role}.][ Il n’existe pas de profil {profile}.][ Il n’existe pas de clé d’API {key}.][ Il n’existe pas d’attribut {attribute} pour {of}.][ L’utilisateur {owner} n’est pas lié au sujet {subject} de {issuer}.]',
    taken:
      'Ceci existe déjà.[ Il existe un utilisateur {user}.][ Il existe un rôle {role}.][ Il existe un profil {profile}.][ Le sujet {subject} de {issuer} est lié à un autre utilisateur.][ Il existe une règle {rule}.]',
    'used-by':
      'Ceci est utilisé.[ Rôle : {role}.][ Profil : {profile}.][ Utilisé par les profils {profiles}.][ Utilisé par les utilisateurs {users}.][ Utilisé par les clés d’API {keys}.][ Et {more} de plus.][ C’est le profil par défaut de {defaultOf}, qui en a d’autres.][ Les règles {rules} l’accordent aussi.]',
    disabled: 'Cet utilisateur est désactivé[ : {user}].',
  },
  expected: {
    'one-of': 'une valeur parmi [{values}]',
    format: '[{format}][, par exemple {example}][, ou {other}]',
    integer: 'un nombre entier, au moins [{minimum}][ et au plus {maximum}]',
    characters: '[{count} de ces caractères : {characters}][, le premier parmi {first}][, par exemple {example}][, ou {other}]',
    'no-control-characters': 'un texte sans caractères de contrôle',
    pattern: 'un texte conforme à [{pattern}]',
    'at-least': 'au moins [{limit}]',
    'at-most': 'au plus [{limit}]',
    'more-than': 'plus de [{limit}]',
    'less-than': 'moins de [{limit}]',
    'multiple-of': 'un multiple de [{limit}]',
    'minimum-length': 'longueur minimale [{limit}]',
    'maximum-length': 'longueur maximale [{limit}]',
    'minimum-items': 'nombre minimal d’éléments [{limit}]',
    'maximum-items': 'nombre maximal d’éléments [{limit}]',
    'minimum-members': 'nombre minimal de membres [{limit}]',
    'maximum-members': 'nombre maximal de membres [{limit}]',
    'different-items': 'des éléments tous différents',
  },
  page: { retry: 'Recommencer', back: 'Retour à l’application' },
};
