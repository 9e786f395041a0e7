#!/usr/bin/env node
/**
 * The bus under the name of the reference's binary, so that its SDKs and configs find it: the same
 * flags, `synod bus` behind them. Its workers inherit nearly the whole environment, as they do there.
 */
process.argv.splice(2, 0, 'bus', '--env-allow', '*');
void import('./synod.js');
