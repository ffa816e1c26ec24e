/** The Spanish texts. They address the reader with “usted”. */

import type { Catalogue } from './catalogue.ts';

export const es: Catalogue = {
  problems: {
    'malformed-request': {
      title: 'Solicitud mal formada',
      detail:
        'La solicitud no tiene la forma documentada. Compárela con la descripción de la API y corrija los lugares indicados, si los hay.',
    },
    'invalid-key': {
      title: 'Clave de entidad no válida',
      detail: 'La clave debe ser un entero de 64 bits en cifras decimales, sin ceros iniciales, signo más ni espacios.',
    },
    'ambiguous-credentials': {
      title: 'Credenciales ambiguas',
      detail: 'La solicitud contiene más de una credencial. Envíe exactamente una.',
    },
    'sign-in-failed': {
      title: 'Error al iniciar sesión',
      detail:
        'El inicio de sesión con el proveedor no se completó: se canceló, tardó demasiado, se comenzó en otro navegador o la respuesta del proveedor no es válida. Vuelva a empezar. Si falla de nuevo, pregunte el motivo al operador.',
    },
    unauthenticated: {
      title: 'Se requiere autenticación',
      detail:
        'Las credenciales faltan, son desconocidas, han caducado o se han revocado, o la sesión ha terminado. Inicie sesión, o envíe una clave de API o un token de acceso.',
    },
    'invalid-credentials': {
      title: 'Credenciales no válidas',
      detail: 'Las credenciales son incorrectas o ya no son válidas. Revíselas e inténtelo de nuevo.',
    },
    'invalid-token': {
      title: 'Token de acceso no válido',
      detail: 'El token de acceso está mal formado, ha caducado o no está destinado a este servicio. Solicite uno nuevo a su emisor.',
    },
    forbidden: {
      title: 'Operación no permitida',
      detail:
        'Sus roles o su modo de autenticación no permiten esta operación. Cambie de perfil, inicie sesión de otra forma o solicite los permisos necesarios a la administración del servicio.',
    },
    'field-forbidden': {
      title: 'Campo no permitido',
      detail:
        'Sus permisos no admiten este valor de un campo. Cada error nombra un campo. Omítalo o solicite los permisos necesarios a la administración del servicio.',
    },
    'insufficient-scope': {
      title: 'Alcance insuficiente',
      detail: 'Los alcances (scopes) de su credencial no cubren esta operación. Utilice una credencial con los alcances necesarios.',
    },
    'csrf-rejected': {
      title: 'Solicitud de otro sitio rechazada',
      detail:
        'La solicitud parece proceder de otro sitio web. Envíela desde la propia aplicación o pida al operador que confíe en su origen.',
    },
    'credential-mismatch': {
      title: 'Contraseña actual no aceptada',
      detail: 'La contraseña actual es incorrecta. Introdúzcala de nuevo; su sesión sigue siendo válida.',
    },
    'identity-not-linked': {
      title: 'Identidad no vinculada',
      detail:
        'Su identidad se ha confirmado, pero no está vinculada a ninguna cuenta de este servicio. Pida a la administración del servicio que la vincule.',
    },
    'fresh-login-required': {
      title: 'Se requiere un inicio de sesión reciente',
      detail: 'Esta operación exige un inicio de sesión reciente. Vuelva a iniciar sesión y repítala.',
    },
    'not-found': {
      title: 'No encontrado',
      detail: 'No se ha encontrado nada en esta dirección o no es visible para usted. Revise la ruta, el nombre y la clave.',
    },
    'method-not-allowed': {
      title: 'Método no permitido',
      detail: 'Esta dirección no admite el método de la solicitud. Utilice un método admitido[: {allowed}].',
    },
    'not-acceptable': {
      title: 'Ningún formato aceptable',
      detail: 'No se puede generar ninguno de los formatos que usted acepta. Acepte un formato disponible[: {allowed}].',
    },
    'request-timeout': {
      title: 'Tiempo de espera de la solicitud agotado',
      detail: 'La solicitud no llegó completa a tiempo. Envíela de nuevo.',
    },
    conflict: {
      title: 'Conflicto',
      detail: 'La solicitud entra en conflicto con datos existentes. Consulte el estado actual y adapte la solicitud.',
    },
    'last-sign-in-method': {
      title: 'Última forma de iniciar sesión',
      detail:
        'Sin esta vinculación no podría volver a iniciar sesión. Vincule antes otra identidad o pida a la administración del servicio que le asigne una contraseña.',
    },
    'refresh-conflict': {
      title: 'Sesión ya renovada',
      detail: 'Otra solicitud ya ha renovado esta sesión. Continúe con la cookie que recibió esa solicitud.',
    },
    'type-conflict': {
      title: 'Tipo no aplicable',
      detail: 'Hay entidades almacenadas que no se ajustan a este tipo, o se supera un límite. El plan del cambio las enumera.',
    },
    'unique-conflict': {
      title: 'Valor ya utilizado',
      detail: 'Otra entidad tiene el mismo valor en un campo único. Utilice otro valor o modifique esa entidad.',
    },
    'still-referenced': {
      title: 'Aún referenciada',
      detail: 'Otras entidades hacen referencia a esta. Elimínelas o cambie antes sus referencias.',
    },
    'older-version': {
      title: 'Aún se ejecuta una versión anterior',
      detail:
        'Aún se ejecutan procesos de una versión anterior que no pueden aplicar este derecho[: {hosts}]. Repita la solicitud cuando hayan terminado.',
    },
    'in-use': {
      title: 'En uso',
      detail: 'Lo usan reglas de estos roles[: {roles}]. Cambie o retire primero esas reglas.',
    },
    'position-gone': {
      title: 'Ya no disponible',
      detail: 'El estado en ese momento ya no está almacenado o nunca existió. Solicite un momento posterior.',
    },
    'confirmation-required': {
      title: 'Confirmación necesaria',
      detail:
        'Este cambio elimina un tipo o versiones almacenadas, u oculta o muestra un campo. Lea su plan y repita la solicitud con la huella de ese plan.',
    },
    'idempotency-in-progress': {
      title: 'Todavía en curso',
      detail:
        'Otra solicitud con este Idempotency-Key está todavía en curso. Vuelva a enviar la suya sin cambios[ dentro de {seconds}] para obtener el resultado.',
    },
    'answer-gone': {
      title: 'Respuesta ya no disponible',
      detail: 'Este Idempotency-Key ya ha surtido efecto una vez y su respuesta ya no está almacenada: recupere la entidad.',
    },
    'precondition-failed': {
      title: 'Condición previa no cumplida',
      detail: 'La entidad ha cambiado desde que usted la leyó. Léala de nuevo y repita el cambio con el nuevo ETag en If-Match.',
    },
    'content-too-large': {
      title: 'Contenido demasiado grande',
      detail: 'El cuerpo de la solicitud, o la entidad tal como se guardaría, es demasiado grande. Envíe menos[ ({limit} como máximo)].',
    },
    'uri-too-long': {
      title: 'URI demasiado largo',
      detail: 'La dirección de la solicitud es demasiado larga. Acórtela[ ({limit} como máximo)].',
    },
    'unsupported-media-type': {
      title: 'Tipo de contenido no admitido',
      detail:
        'El tipo, el juego de caracteres o la codificación del contenido no se admite aquí. Utilice un tipo de contenido admitido[: {allowed}].',
    },
    'validation-failed': {
      title: 'Validación fallida',
      detail:
        'La solicitud está bien formada, pero algunos de sus valores no se aceptan. Corrija los lugares indicados y envíela de nuevo.',
    },
    'password-rejected': {
      title: 'Contraseña rechazada',
      detail: 'La nueva contraseña no cumple los requisitos. Elija otra teniendo en cuenta los motivos indicados.',
    },
    'idempotency-key-reused': {
      title: 'Idempotency-Key ya utilizado',
      detail:
        'Este Idempotency-Key se utilizó para otra solicitud. Use uno nuevo para una solicitud nueva; repita una solicitud sin cambios.',
    },
    'query-too-expensive': {
      title: 'Consulta demasiado costosa',
      detail: 'La consulta costaría demasiado. Restrinja el filtro, ordene por $key o renuncie al recuento.',
    },
    'too-many-refusals': {
      title: 'Demasiadas filas rechazadas',
      detail:
        'La importación ha terminado porque ha rechazado demasiadas filas.[ Límite: {limit}.] Corrija el archivo o continúe tras la última fila con fromRow.',
    },
    'too-many-rows': {
      title: 'Demasiadas filas',
      detail:
        'La importación ha terminado porque el archivo tiene más valores únicos de los que se comparan.[ Límite: {limit}.] Continúe tras la última fila con fromRow.',
    },
    'precondition-required': {
      title: 'Se requiere una condición previa',
      detail:
        'Este cambio exige una condición previa: el ETag de lo que cambia en If-Match, en un lote la versión en ifMatch, o If-None-Match: * para crear.',
    },
    'rate-limited': {
      title: 'Demasiadas solicitudes',
      detail: 'Ha habido demasiadas solicitudes o intentos. Espere[ {seconds}] antes de intentarlo de nuevo.',
    },
    'headers-too-large': {
      title: 'Cabeceras demasiado grandes',
      detail: 'Las cabeceras de la solicitud son demasiado grandes. Acórtelas[ ({limit} en total como máximo)].',
    },
    'internal-error': {
      title: 'Error interno',
      detail: 'Se ha producido un error inesperado en el servicio. Si se repite, comunique al operador el valor de «instance».',
    },
    unavailable: {
      title: 'Servicio no disponible',
      detail: 'El servicio no puede responder en este momento. Inténtelo de nuevo[ dentro de {seconds}].',
    },
    busy: {
      title: 'Servicio saturado',
      detail: 'El servicio está saturado en este momento. Inténtelo de nuevo[ dentro de {seconds}].',
    },
    'issuer-unavailable': {
      title: 'Emisor no disponible',
      detail: 'No se puede contactar en este momento con el emisor que acredita su identidad. Inténtelo de nuevo[ dentro de {seconds}].',
    },
    'outcome-unknown': {
      title: 'Resultado desconocido',
      detail:
        'La conexión se perdió antes de conocerse el resultado, así que el cambio puede haberse realizado o no. ' +
        'Compruebe el estado actual[ dentro de {seconds}] antes de repetir la solicitud.',
    },
  },
  faults: {
    unknown: 'Este nombre no se conoce aquí. Revise cómo está escrito o elimínelo.[ Escriba {instead} en su lugar.]',
    repeated: 'Este dato solo puede indicarse una vez.',
    'other-header': 'Esta credencial se envía en otro encabezado.[ Envíela como {header}.]',
    required: 'Este dato es obligatorio.',
    conflicting: 'Este dato no puede combinarse con los demás valores de la solicitud.',
    'invalid-value': 'Este valor no se acepta.[ Valores aceptados: {allowed}.][ Mínimo: {minimum}.][ Máximo: {maximum}.]',
    'invalid-type': 'Este valor no es del tipo correcto.[ Tipo esperado: {allowed}.]',
    'invalid-encoding': 'Este dato no está codificado correctamente. Utilice UTF-8 y, cuando proceda, una codificación por ciento válida.',
    'too-short': 'Este dato es demasiado corto.[ Longitud mínima: {minimum}.]',
    'too-long': 'Este dato es demasiado largo.[ Longitud máxima: {maximum}.]',
    'invalid-json': 'Esto no es JSON válido.[ El error está en la posición {position}.]',
    'invalid-csv': 'Esta fila no es CSV válido: falta una comilla o está en un lugar equivocado.',
    'cell-count': 'Esta fila no tiene tantas celdas como el encabezado.',
    'unnamed-column':
      'La celda tiene un valor, pero su columna no tiene nombre en el encabezado. Dé un nombre a la columna o llámela $ignore.',
    'other-delimiter': 'El encabezado parece tener otro delimitador.[ Establezca delimiter en {delimiter}.]',
    'other-database':
      'El archivo procede de otra base de datos, donde esto pertenece a otra entidad que aquí.[ Indique la entidad por sus valores: {instead}.]',
    'duplicate-member': 'Este objeto tiene dos miembros con el mismo nombre. Conserve solo uno.',
    'number-not-exact': 'Este número no puede almacenarse con exactitud. Utilice menos cifras o envíelo como cadena.',
    'nul-character': 'Un texto no debe contener el carácter U+0000.',
    'lone-surrogate': 'Un texto no debe contener un par suplente (surrogate) incompleto.',
    'too-deep': 'El anidamiento es demasiado profundo.[ Profundidad máxima: {limit}.]',
    'too-many-values': 'Hay demasiados valores.[ Número máximo: {limit}.]',
    'too-costly': 'La comprobación tarda demasiado. Acorte o simplifique esto.',
    'type-too-costly': 'Los patrones del tipo tardan demasiado en comprobarse. Declárelo con patrones más sencillos.',
    'type-not-supported': 'Esta versión no puede comprobar campos con el tipo. Declárelo de nuevo; «doctor» indica qué hay que cambiar.',
    'member-name-too-long': 'Un miembro de este objeto tiene un nombre demasiado largo.[ Longitud máxima: {limit}.]',
    'member-name-reserved': 'El nombre de este miembro está reservado. Utilice otro.',
    'invalid-cursor': 'Este cursor no pertenece a esta lista. Empiece de nuevo sin él.',
    'unknown-field': 'El tipo de la entidad no tiene este campo[: {name}]. Compruebe cómo está escrito.[ Escriba {instead} en su lugar.]',
    'unknown-operator': 'Este operador no existe. Compruebe cómo está escrito.',
    'unknown-variable': 'Esta variable no existe. Compruebe cómo está escrita.',
    'not-writable': 'Sus permisos no le dejan escribir este campo.',
    'value-forbidden': 'Sus permisos no admiten este valor.',
    'not-filterable': 'Un campo de este tipo no puede usarse así.[ Operadores admitidos: {allowed}.]',
    'not-addressable':
      'Un nombre que empieza por $ no es un campo. Los filtros y los órdenes pueden usar $key, $version, $createdAt, $createdBy, $updatedAt y $updatedBy.',
    'not-a-reference': 'Este campo no es una referencia y no lleva a ninguna entidad.[ Referencias: {allowed}.]',
    'needs-index':
      'Esto necesita un índice.[ La regla abarca el {share} % de las entidades.][ Campos: {fields}.][ Añada {entry} a x-index.][ Ruta de acceso: {path}.]',
    'time-limit': 'Esto ha tardado demasiado. Más tarde puede funcionar; un filtro más estrecho o un índice lo hace más rápido.',
    'too-many-tests':
      'El filtro tiene demasiadas condiciones.[ Número máximo: {limit}.][ Rol: {role}.][ Perfil: {profile}.][ Reglas para: {rules}.]',
    'duplicate-value':
      'Otra entidad tiene este valor.[ Es la de la fila {row} del archivo.][ Su clave es {key}.][ Su nombre es {label}.][ Estos campos son únicos en conjunto: {fields}.]',
    'reference-not-found': 'No existe ninguna entidad con esta clave.',
    referenced: 'Otras entidades o tipos hacen referencia a este elemento.[ Tipos: {types}.][ Entidades llamadas {name}: {count}.]',
    'too-many-referrers':
      'Se eliminarían o cambiarían con ella más de [{limit}] entidades. Elimínelas o cámbielas antes por partes, o elimínela con purge, que lo hace por sí mismo.',
    'partly-done':
      'Se han eliminado o cambiado entidades que hacían referencia a ella[: {count}].[ La misma solicitud continúa con el resto dentro de {seconds}.]',
    'too-common': 'Esta contraseña es demasiado común. Elija una menos habitual.',
    'too-predictable': 'Esta contraseña sigue un patrón previsible. Evite las repeticiones y las secuencias.',
    'contains-context': 'Esta contraseña contiene el nombre de la cuenta o del servicio. Evite esas palabras.',
    breached: 'Esta contraseña figura en una filtración de datos. Elija otra y cámbiela también en los demás sitios donde la utilice.',
    unchanged: 'La nueva contraseña es igual a la actual. Elija una distinta.',
    'not-repeated-exactly': 'La repetición no coincide con la nueva contraseña. Introduzca dos veces la misma contraseña.',
    refused: 'Esta es la operación que fue rechazada.',
    'not-supported':
      'El servicio no admite esto aquí.[ No tendría efecto: el servicio no completa valores ni oculta campos. Elimine {removed}.][ Elimine {surplus}.][ Escriba {instead} en su lugar.][ El operador debe ejecutar esto en la base de datos: {statement}.]',
    contradictory: 'Esto contradice otra palabra clave[: {keyword}].',
    absent:
      'Esto no existe.[ No existe el usuario {user}.][ No existe el rol {role}.][ No existe el perfil {profile}.][ No existe la clave de API {key}.][ No existe el atributo {attribute} para {of}.][ El usuario {owner} no está vinculado al sujeto {subject} de {issuer}.]',
    taken:
      'Esto ya existe.[ Ya existe el usuario {user}.][ Ya existe el rol {role}.][ Ya existe el perfil {profile}.][ El sujeto {subject} de {issuer} está vinculado a otro usuario.][ Ya existe la regla {rule}.]',
    'used-by':
      'Esto está en uso.[ Rol: {role}.][ Perfil: {profile}.][ Lo usan los perfiles {profiles}.][ Lo usan los usuarios {users}.][ Lo usan las claves de API {keys}.][ Y {more} más.][ Es el perfil predeterminado de {defaultOf}, que tiene otros.][ También lo conceden las reglas {rules}.]',
    disabled: 'Este usuario está deshabilitado[: {user}].',
  },
  expected: {
    'one-of': 'uno de [{values}]',
    format: '[{format}][, por ejemplo {example}][, o {other}]',
    integer: 'un número entero, como mínimo [{minimum}][ y como máximo {maximum}]',
    characters: '[{count} de estos caracteres: {characters}][, el primero de {first}][, por ejemplo {example}][, o {other}]',
    'no-control-characters': 'un texto sin caracteres de control',
    pattern: 'un texto que se ajuste a [{pattern}]',
    'at-least': 'como mínimo [{limit}]',
    'at-most': 'como máximo [{limit}]',
    'more-than': 'más de [{limit}]',
    'less-than': 'menos de [{limit}]',
    'multiple-of': 'un múltiplo de [{limit}]',
    'minimum-length': 'longitud mínima [{limit}]',
    'maximum-length': 'longitud máxima [{limit}]',
    'minimum-items': 'número mínimo de elementos [{limit}]',
    'maximum-items': 'número máximo de elementos [{limit}]',
    'minimum-members': 'número mínimo de miembros [{limit}]',
    'maximum-members': 'número máximo de miembros [{limit}]',
    'different-items': 'elementos distintos entre sí',
  },
  page: { retry: 'Empezar de nuevo', back: 'Volver a la aplicación' },
};
