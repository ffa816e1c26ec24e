/** The German texts. They address the reader with “Sie”. */

import type { Catalogue } from './catalogue.ts';

export const de: Catalogue = {
  problems: {
    'malformed-request': {
      title: 'Fehlerhafte Anfrage',
      detail:
        'Die Anfrage hat nicht die dokumentierte Form. Vergleichen Sie sie mit der API-Beschreibung und korrigieren Sie gegebenenfalls die aufgeführten Stellen.',
    },
    'invalid-key': {
      title: 'Ungültiger Entitätsschlüssel',
      detail: 'Der Schlüssel muss eine 64-Bit-Ganzzahl in Dezimalziffern sein, ohne führende Nullen, Pluszeichen oder Leerzeichen.',
    },
    'ambiguous-credentials': {
      title: 'Mehrdeutige Anmeldedaten',
      detail: 'Die Anfrage enthält mehr als einen Berechtigungsnachweis. Senden Sie genau einen.',
    },
    'sign-in-failed': {
      title: 'Anmeldung fehlgeschlagen',
      detail:
        'Die Anmeldung beim Anbieter wurde nicht abgeschlossen: Sie wurde abgebrochen, hat zu lange gedauert, wurde in einem anderen Browser begonnen, oder die Antwort des Anbieters ist ungültig. Beginnen Sie von vorn. Scheitert sie erneut, fragen Sie den Betreiber nach dem Grund.',
    },
    unauthenticated: {
      title: 'Anmeldung erforderlich',
      detail:
        'Die Anmeldedaten fehlen, sind unbekannt, abgelaufen oder widerrufen, oder die Sitzung ist beendet. Melden Sie sich an, oder senden Sie einen API-Schlüssel oder ein Zugriffstoken.',
    },
    'invalid-credentials': {
      title: 'Ungültige Anmeldedaten',
      detail: 'Die Anmeldedaten sind falsch oder nicht mehr gültig. Prüfen Sie sie und versuchen Sie es erneut.',
    },
    'invalid-token': {
      title: 'Ungültiges Zugriffstoken',
      detail:
        'Das Zugriffstoken ist fehlerhaft, abgelaufen oder nicht für diesen Dienst bestimmt. Fordern Sie bei seinem Aussteller ein neues an.',
    },
    forbidden: {
      title: 'Nicht erlaubt',
      detail:
        'Ihre Rollen oder die Art Ihrer Anmeldung erlauben diesen Vorgang nicht. Wechseln Sie das Profil, melden Sie sich anders an, oder bitten Sie die Administration um die nötigen Rechte.',
    },
    'field-forbidden': {
      title: 'Feld nicht erlaubt',
      detail:
        'Ihre Rechte erlauben diesen Wert eines Feldes nicht. Jeder Fehler nennt ein Feld. Lassen Sie es weg, oder bitten Sie die Administration um die nötigen Rechte.',
    },
    'insufficient-scope': {
      title: 'Unzureichender Geltungsbereich',
      detail:
        'Die Geltungsbereiche (Scopes) Ihres Berechtigungsnachweises decken diesen Vorgang nicht ab. Verwenden Sie einen mit den nötigen Geltungsbereichen.',
    },
    'csrf-rejected': {
      title: 'Anfrage von einer fremden Website abgelehnt',
      detail:
        'Die Anfrage scheint von einer anderen Website zu kommen. Senden Sie sie aus der Anwendung selbst, oder bitten Sie den Betreiber, deren Ursprung (Origin) zu vertrauen.',
    },
    'credential-mismatch': {
      title: 'Aktuelles Passwort nicht akzeptiert',
      detail: 'Das aktuelle Passwort ist falsch. Geben Sie es erneut ein; Ihre Sitzung bleibt gültig.',
    },
    'identity-not-linked': {
      title: 'Identität nicht verknüpft',
      detail:
        'Ihre Identität wurde bestätigt, ist aber mit keinem Benutzerkonto dieses Dienstes verknüpft. Bitten Sie die Administration, sie zu verknüpfen.',
    },
    'fresh-login-required': {
      title: 'Erneute Anmeldung erforderlich',
      detail: 'Für diesen Vorgang darf die Anmeldung nicht lange zurückliegen. Melden Sie sich erneut an und wiederholen Sie ihn.',
    },
    'not-found': {
      title: 'Nicht gefunden',
      detail:
        'Unter dieser Adresse wurde nichts gefunden, oder es ist für Sie nicht sichtbar. Prüfen Sie den Pfad, den Namen und den Schlüssel.',
    },
    'method-not-allowed': {
      title: 'Methode nicht erlaubt',
      detail: 'Diese Adresse unterstützt die Methode der Anfrage nicht. Verwenden Sie eine unterstützte Methode[: {allowed}].',
    },
    'not-acceptable': {
      title: 'Kein akzeptiertes Format verfügbar',
      detail: 'Keines der von Ihnen akzeptierten Formate kann erzeugt werden. Akzeptieren Sie ein unterstütztes Format[: {allowed}].',
    },
    'request-timeout': {
      title: 'Zeitüberschreitung der Anfrage',
      detail: 'Die Anfrage ist nicht rechtzeitig vollständig eingetroffen. Senden Sie sie erneut.',
    },
    conflict: {
      title: 'Konflikt',
      detail: 'Die Anfrage steht im Widerspruch zu vorhandenen Daten. Lesen Sie den aktuellen Stand und passen Sie die Anfrage an.',
    },
    'last-sign-in-method': {
      title: 'Letzte Anmeldemöglichkeit',
      detail:
        'Ohne diese Verknüpfung könnten Sie sich nicht mehr anmelden. Verknüpfen Sie zuerst eine andere Identität, oder bitten Sie die Administration, ein Passwort für Sie festzulegen.',
    },
    'refresh-conflict': {
      title: 'Sitzung bereits erneuert',
      detail: 'Eine andere Anfrage hat diese Sitzung bereits erneuert. Arbeiten Sie mit dem Cookie weiter, das jene Anfrage erhalten hat.',
    },
    'type-conflict': {
      title: 'Typ nicht anwendbar',
      detail: 'Gespeicherte Entitäten passen nicht zu diesem Typ, oder eine Grenze ist überschritten. Der Plan der Änderung führt sie auf.',
    },
    'unique-conflict': {
      title: 'Wert bereits vergeben',
      detail:
        'Eine andere Entität hat denselben Wert in einem eindeutigen Feld. Verwenden Sie einen anderen Wert, oder ändern Sie jene Entität.',
    },
    'still-referenced': {
      title: 'Noch referenziert',
      detail: 'Andere Entitäten verweisen auf diese. Löschen Sie sie zuerst, oder ändern Sie ihre Verweise.',
    },
    'older-version': {
      title: 'Ältere Version läuft noch',
      detail:
        'Es laufen noch Prozesse einer älteren Version, die dieses Recht nicht durchsetzen können[: {hosts}]. Wiederholen Sie die Anfrage, sobald sie beendet sind.',
    },
    'in-use': {
      title: 'Wird verwendet',
      detail: 'Regeln dieser Rollen verwenden es[: {roles}]. Ändern oder entziehen Sie zuerst diese Regeln.',
    },
    'position-gone': {
      title: 'Nicht mehr verfügbar',
      detail: 'Der Stand zu diesem Zeitpunkt ist nicht mehr gespeichert oder hat nie existiert. Geben Sie einen späteren Zeitpunkt an.',
    },
    'confirmation-required': {
      title: 'Bestätigung erforderlich',
      detail:
        'Diese Änderung entfernt einen Typ oder gespeicherte Versionen, oder sie verbirgt oder zeigt ein Feld. Lesen Sie ihren Plan und wiederholen Sie die Anfrage mit dessen Prüfsumme.',
    },
    'idempotency-in-progress': {
      title: 'Noch in Arbeit',
      detail:
        'Eine andere Anfrage mit diesem Idempotency-Key ist noch in Arbeit. Senden Sie Ihre Anfrage[ in {seconds}] unverändert noch einmal, um das Ergebnis zu erhalten.',
    },
    'answer-gone': {
      title: 'Antwort nicht mehr verfügbar',
      detail:
        'Dieser Idempotency-Key ist bereits einmal wirksam geworden, und die Antwort ist nicht mehr gespeichert: Rufen Sie die Entität ab.',
    },
    'precondition-failed': {
      title: 'Vorbedingung nicht erfüllt',
      detail:
        'Die Entität wurde geändert, seit Sie sie gelesen haben. Lesen Sie sie erneut und wiederholen Sie Ihre Änderung mit dem neuen ETag in If-Match.',
    },
    'content-too-large': {
      title: 'Inhalt zu groß',
      detail: 'Der Inhalt der Anfrage ist zu groß, oder die Entität, wie sie gespeichert würde. Senden Sie weniger[ (höchstens {limit})].',
    },
    'uri-too-long': {
      title: 'URI zu lang',
      detail: 'Die Adresse der Anfrage ist zu lang. Kürzen Sie sie[ (höchstens {limit})].',
    },
    'unsupported-media-type': {
      title: 'Medientyp nicht unterstützt',
      detail:
        'Der Inhaltstyp, der Zeichensatz oder die Inhaltscodierung der Anfrage wird hier nicht unterstützt. Verwenden Sie einen unterstützten Inhaltstyp[: {allowed}].',
    },
    'validation-failed': {
      title: 'Prüfung fehlgeschlagen',
      detail:
        'Die Anfrage ist wohlgeformt, aber einige ihrer Werte werden nicht akzeptiert. Korrigieren Sie die aufgeführten Stellen und senden Sie sie erneut.',
    },
    'password-rejected': {
      title: 'Passwort abgelehnt',
      detail: 'Das neue Passwort erfüllt die Anforderungen nicht. Wählen Sie ein anderes und beachten Sie dabei die aufgeführten Gründe.',
    },
    'idempotency-key-reused': {
      title: 'Idempotency-Key bereits verwendet',
      detail:
        'Dieser Idempotency-Key wurde für eine andere Anfrage verwendet. Verwenden Sie für eine neue Anfrage einen neuen; wiederholen Sie eine Anfrage nur unverändert.',
    },
    'query-too-expensive': {
      title: 'Abfrage zu aufwendig',
      detail: 'Die Abfrage wäre zu aufwendig. Grenzen Sie den Filter ein, sortieren Sie nach $key oder verzichten Sie auf das Zählen.',
    },
    'too-many-refusals': {
      title: 'Zu viele abgelehnte Zeilen',
      detail:
        'Der Import wurde beendet, weil er zu viele Zeilen abgelehnt hat.[ Grenze: {limit}.] Berichtigen Sie die Datei, oder fahren Sie hinter der letzten Zeile mit fromRow fort.',
    },
    'too-many-rows': {
      title: 'Zu viele Zeilen',
      detail:
        'Der Import wurde beendet, weil die Datei mehr eindeutige Werte hat, als verglichen werden.[ Grenze: {limit}.] Fahren Sie hinter der letzten Zeile mit fromRow fort.',
    },
    'precondition-required': {
      title: 'Vorbedingung erforderlich',
      detail:
        'Diese Änderung benötigt eine Vorbedingung: das ETag des Geänderten in If-Match, in einem Stapel die Version in ifMatch, oder If-None-Match: * zum Anlegen.',
    },
    'rate-limited': {
      title: 'Zu viele Anfragen',
      detail: 'Es gab zu viele Anfragen oder Versuche. Warten Sie[ {seconds}], bevor Sie es erneut versuchen.',
    },
    'headers-too-large': {
      title: 'Header-Felder zu groß',
      detail: 'Die Header-Felder der Anfrage sind zu groß. Kürzen Sie sie[ (insgesamt höchstens {limit})].',
    },
    'internal-error': {
      title: 'Interner Fehler',
      detail:
        'Im Dienst ist ein unerwarteter Fehler aufgetreten. Nennen Sie dem Betreiber den Wert von „instance“, falls er wieder auftritt.',
    },
    unavailable: {
      title: 'Dienst nicht verfügbar',
      detail: 'Der Dienst kann derzeit nicht antworten. Bitte versuchen Sie es[ in {seconds}] erneut.',
    },
    busy: {
      title: 'Dienst ausgelastet',
      detail: 'Der Dienst ist derzeit ausgelastet. Bitte versuchen Sie es[ in {seconds}] erneut.',
    },
    'issuer-unavailable': {
      title: 'Aussteller nicht erreichbar',
      detail: 'Der Aussteller, der Ihre Identität bestätigt, ist derzeit nicht erreichbar. Bitte versuchen Sie es[ in {seconds}] erneut.',
    },
    'outcome-unknown': {
      title: 'Ergebnis unbekannt',
      detail:
        'Die Verbindung brach ab, bevor das Ergebnis feststand; die Änderung kann also erfolgt sein oder nicht. ' +
        'Prüfen Sie[ in {seconds}] den aktuellen Stand, bevor Sie die Anfrage wiederholen.',
    },
  },
  faults: {
    unknown:
      'Dieser Name ist hier nicht bekannt. Prüfen Sie die Schreibweise oder entfernen Sie ihn.[ Schreiben Sie stattdessen {instead}.]',
    repeated: 'Diese Angabe darf nur einmal vorkommen.',
    'other-header': 'Diese Anmeldedaten gehören in einen anderen Header.[ Senden Sie sie als {header}.]',
    required: 'Diese Angabe ist erforderlich.',
    conflicting: 'Diese Angabe lässt sich nicht mit den übrigen Werten der Anfrage verbinden.',
    'invalid-value': 'Dieser Wert wird nicht akzeptiert.[ Akzeptiert: {allowed}.][ Minimum: {minimum}.][ Maximum: {maximum}.]',
    'invalid-type': 'Dieser Wert hat den falschen Typ.[ Erwartet: {allowed}.]',
    'invalid-encoding': 'Diese Angabe ist nicht korrekt codiert. Verwenden Sie UTF-8 und, wo nötig, gültige Prozentcodierung.',
    'too-short': 'Diese Angabe ist zu kurz.[ Mindestlänge: {minimum}.]',
    'too-long': 'Diese Angabe ist zu lang.[ Höchstlänge: {maximum}.]',
    'invalid-json': 'Dies ist kein gültiges JSON.[ Der Fehler liegt an Position {position}.]',
    'invalid-csv': 'Diese Zeile ist kein gültiges CSV: Ein Anführungszeichen fehlt oder steht an der falschen Stelle.',
    'cell-count': 'Diese Zeile hat nicht so viele Zellen wie die Kopfzeile.',
    'unnamed-column':
      'Die Zelle hat einen Wert, aber ihre Spalte hat in der Kopfzeile keinen Namen. Benennen Sie die Spalte, oder nennen Sie sie $ignore.',
    'other-delimiter': 'Die Kopfzeile scheint ein anderes Trennzeichen zu haben.[ Setzen Sie delimiter auf {delimiter}.]',
    'other-database':
      'Die Datei stammt aus einer anderen Datenbank, in der dies zu einem anderen Objekt gehört als hier.[ Nennen Sie das Objekt mit seinen Werten: {instead}.]',
    'duplicate-member': 'Dieses Objekt hat zwei gleichnamige Elemente. Behalten Sie nur eines.',
    'number-not-exact':
      'Diese Zahl kann nicht exakt gespeichert werden. Verwenden Sie weniger Stellen oder senden Sie sie als Zeichenkette.',
    'nul-character': 'Text darf das Zeichen U+0000 nicht enthalten.',
    'lone-surrogate': 'Text darf kein unvollständiges Surrogatpaar enthalten.',
    'too-deep': 'Die Verschachtelung ist zu tief.[ Höchsttiefe: {limit}.]',
    'too-many-values': 'Es sind zu viele Werte.[ Höchstzahl: {limit}.]',
    'too-costly': 'Die Prüfung dauert zu lange. Kürzen oder vereinfachen Sie dies.',
    'type-too-costly': 'Die Muster des Typs brauchen zu lange für die Prüfung. Deklarieren Sie ihn mit einfacheren.',
    'type-not-supported':
      'Diese Version kann Felder nicht gegen den Typ prüfen. Deklarieren Sie ihn neu; „doctor“ nennt die Stellen, die zu ändern sind.',
    'member-name-too-long': 'Ein Element dieses Objekts hat einen zu langen Namen.[ Höchstlänge: {limit}.]',
    'member-name-reserved': 'Der Name dieses Elements ist reserviert. Verwenden Sie einen anderen.',
    'invalid-cursor': 'Dieser Cursor gehört nicht zu dieser Liste. Beginnen Sie ohne ihn von vorn.',
    'unknown-field':
      'Der Typ der Entität hat kein solches Feld[: {name}]. Prüfen Sie die Schreibweise.[ Schreiben Sie stattdessen {instead}.]',
    'unknown-operator': 'Diesen Operator gibt es nicht. Prüfen Sie die Schreibweise.',
    'unknown-variable': 'Diese Variable gibt es nicht. Prüfen Sie die Schreibweise.',
    'not-writable': 'Ihre Rechte erlauben nicht, dieses Feld zu schreiben.',
    'value-forbidden': 'Ihre Rechte erlauben diesen Wert nicht.',
    'not-filterable': 'Ein Feld dieses Typs lässt sich so nicht verwenden.[ Unterstützte Operatoren: {allowed}.]',
    'not-addressable':
      'Ein Name, der mit $ beginnt, ist kein Feld. Filter und Sortierungen dürfen $key, $version, $createdAt, $createdBy, $updatedAt und $updatedBy verwenden.',
    'not-a-reference': 'Dieses Feld ist kein Verweis und führt zu keiner Entität.[ Verweise: {allowed}.]',
    'needs-index':
      'Dafür ist ein Index nötig.[ Die Regel umfasst {share} % der Entitäten.][ Felder: {fields}.][ Ergänzen Sie {entry} in x-index.][ Zugriffspfad: {path}.]',
    'time-limit': 'Das hat zu lange gedauert. Später kann es gelingen; ein engerer Filter oder ein Index macht es schneller.',
    'too-many-tests':
      'Der Filter hat zu viele Bedingungen.[ Höchstzahl: {limit}.][ Rolle: {role}.][ Profil: {profile}.][ Regeln für: {rules}.]',
    'duplicate-value':
      'Eine andere Entität hat diesen Wert.[ Es ist die der Zeile {row} der Datei.][ Sie hat den Schlüssel {key}.][ Sie heißt {label}.][ Diese Felder sind gemeinsam eindeutig: {fields}.]',
    'reference-not-found': 'Es gibt keine Entität mit diesem Schlüssel.',
    referenced: 'Andere Entitäten oder Typen verweisen darauf.[ Typen: {types}.][ Entitäten namens {name}: {count}.]',
    'too-many-referrers':
      'Mehr als [{limit}] Entitäten würden mit ihr gelöscht oder geändert. Löschen oder ändern Sie diese zuerst in Teilen, oder entfernen Sie sie mit purge: Das tut es von selbst.',
    'partly-done':
      'Entitäten, die darauf verwiesen, wurden gelöscht oder geändert[: {count}].[ Dieselbe Anfrage macht in {seconds} mit dem Rest weiter.]',
    'too-common': 'Dieses Passwort ist zu verbreitet. Wählen Sie ein weniger gebräuchliches.',
    'too-predictable': 'Dieses Passwort folgt einem vorhersehbaren Muster. Vermeiden Sie Wiederholungen und Folgen.',
    'contains-context': 'Dieses Passwort enthält den Namen des Benutzerkontos oder des Dienstes. Verzichten Sie auf solche Wörter.',
    breached:
      'Dieses Passwort ist aus einem Datenleck bekannt. Wählen Sie ein anderes, und ändern Sie es überall, wo Sie es sonst verwenden.',
    unchanged: 'Das neue Passwort ist mit dem aktuellen identisch. Wählen Sie ein anderes.',
    'not-repeated-exactly': 'Die Wiederholung weicht vom neuen Passwort ab. Geben Sie zweimal dasselbe Passwort ein.',
    refused: 'Das ist die Operation, die abgelehnt wurde.',
    'not-supported':
      'Der Dienst unterstützt dies hier nicht.[ Es hätte keine Wirkung: Der Dienst ergänzt keine Werte und verbirgt keine Felder. Entfernen Sie {removed}.][ Entfernen Sie {surplus}.][ Schreiben Sie stattdessen {instead}.][ Der Betreiber muss dies in der Datenbank ausführen: {statement}.]',
    contradictory: 'Dies widerspricht einem anderen Schlüsselwort[: {keyword}].',
    absent:
      'Dies gibt es nicht.[ Es gibt keinen Benutzer {user}.][ Es gibt keine Rolle {role}.][ Es gibt kein Profil {profile}.][ Es gibt keinen API-Schlüssel {key}.][ Es gibt kein Attribut {attribute} für {of}.][ Der Benutzer {owner} ist nicht mit dem Subjekt {subject} von {issuer} verknüpft.]',
    taken:
      'Dies gibt es bereits.[ Es gibt einen Benutzer {user}.][ Es gibt eine Rolle {role}.][ Es gibt ein Profil {profile}.][ Das Subjekt {subject} von {issuer} ist mit einem anderen Benutzer verknüpft.][ Es gibt eine Regel {rule}.]',
    'used-by':
      'Dies wird verwendet.[ Rolle: {role}.][ Profil: {profile}.][ Von den Profilen {profiles}.][ Von den Benutzern {users}.][ Von den API-Schlüsseln {keys}.][ Und {more} weitere.][ Es ist das Standardprofil von {defaultOf} mit weiteren Profilen.][ Die Regeln {rules} gewähren es ebenfalls.]',
    disabled: 'Dieser Benutzer ist deaktiviert[: {user}].',
  },
  expected: {
    'one-of': 'eines von [{values}]',
    format: '[{format}][, zum Beispiel {example}][, oder {other}]',
    integer: 'eine ganze Zahl, mindestens [{minimum}][ und höchstens {maximum}]',
    characters: '[{count} dieser Zeichen: {characters}][, das erste aus {first}][, zum Beispiel {example}][, oder {other}]',
    'no-control-characters': 'Text ohne Steuerzeichen',
    pattern: 'Text, der zu [{pattern}] passt',
    'at-least': 'mindestens [{limit}]',
    'at-most': 'höchstens [{limit}]',
    'more-than': 'mehr als [{limit}]',
    'less-than': 'weniger als [{limit}]',
    'multiple-of': 'ein Vielfaches von [{limit}]',
    'minimum-length': 'Mindestlänge [{limit}]',
    'maximum-length': 'Höchstlänge [{limit}]',
    'minimum-items': 'Mindestzahl der Einträge [{limit}]',
    'maximum-items': 'Höchstzahl der Einträge [{limit}]',
    'minimum-members': 'Mindestzahl der Elemente [{limit}]',
    'maximum-members': 'Höchstzahl der Elemente [{limit}]',
    'different-items': 'lauter verschiedene Einträge',
  },
  page: { retry: 'Von vorn beginnen', back: 'Zurück zur Anwendung' },
};
