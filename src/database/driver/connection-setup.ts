/**
 * What every connection of the service begins with. It keeps the plans of its statements, and one made while a table is all but empty would go
 * through the whole of it, and still do so when it has thousands of rows more. Whatever a request asks has an index to go by. On servers
 * before PostgreSQL 18 what is to be avoided only looks expensive, and so worth compiling.
 *
 * A statement and no parameter of the connection: those can be given in its address as well, and poolers refuse what they do not know.
 */
export const avoidWholeTables = 'set enable_seqscan = off; set jit = off';
