// Generated from openapi.yaml by `npm run generate`. Do not edit.

export const operations = {
  getSession: { method: 'GET', path: '/auth', tag: 'Sessions', caller: 'principal' },
  endSession: { method: 'HEAD', path: '/auth', tag: 'Sessions', caller: 'anyone' },
  createSession: { method: 'POST', path: '/auth', tag: 'Sessions', caller: 'anyone' },
  refreshSession: { method: 'POST', path: '/auth/refresh', tag: 'Sessions', caller: 'principal' },
  listProfiles: { method: 'GET', path: '/auth/profiles', tag: 'Profiles', caller: 'principal' },
  selectDefaultProfile: { method: 'POST', path: '/auth/profile', tag: 'Profiles', caller: 'principal' },
  selectProfile: { method: 'POST', path: '/auth/profile/{name}', tag: 'Profiles', caller: 'principal' },
  changePassword: { method: 'POST', path: '/auth/password', tag: 'Password', caller: 'principal' },
  listSessions: { method: 'GET', path: '/auth/sessions', tag: 'Sessions', caller: 'principal' },
  revokeOtherSessions: { method: 'DELETE', path: '/auth/sessions', tag: 'Sessions', caller: 'principal' },
  revokeSession: { method: 'DELETE', path: '/auth/sessions/{id}', tag: 'Sessions', caller: 'principal' },
  listKeys: { method: 'GET', path: '/auth/keys', tag: 'API keys', caller: 'principal' },
  createKey: { method: 'POST', path: '/auth/keys', tag: 'API keys', caller: 'principal' },
  revokeKey: { method: 'DELETE', path: '/auth/keys/{id}', tag: 'API keys', caller: 'principal' },
  rotateKey: { method: 'POST', path: '/auth/keys/{id}/rotate', tag: 'API keys', caller: 'principal' },
  createEntity: { method: 'POST', path: '/rest/entity/{name}', tag: 'Entities', caller: 'principal' },
  getEntity: { method: 'GET', path: '/rest/entity/{name}/{key}', tag: 'Entities', caller: 'principal' },
  updateEntity: { method: 'POST', path: '/rest/entity/{name}/{key}', tag: 'Entities', caller: 'principal' },
  deleteEntity: { method: 'DELETE', path: '/rest/entity/{name}/{key}', tag: 'Entities', caller: 'principal' },
} as const;
