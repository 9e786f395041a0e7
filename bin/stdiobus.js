#!/usr/bin/env node
/**
 * The workers under the reference's names: `stdiobus echo-worker` is `synod worker echo-worker`. Also
 * installed as `workers-registry`.
 */
process.argv.splice(2, 0, 'worker');
void import('./synod.js');
