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
  createEntity: { method: 'POST', path: '/rest/entity/{name}', tag: 'Entities', caller: 'principal' },
  getEntity: { method: 'GET', path: '/rest/entity/{name}/{key}', tag: 'Entities', caller: 'principal' },
  updateEntity: { method: 'POST', path: '/rest/entity/{name}/{key}', tag: 'Entities', caller: 'principal' },
  deleteEntity: { method: 'DELETE', path: '/rest/entity/{name}/{key}', tag: 'Entities', caller: 'principal' },
} as const;
