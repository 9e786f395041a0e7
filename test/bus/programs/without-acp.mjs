// Loaded before a worker: the ACP library is not there, whatever is installed.
import { registerHooks } from 'node:module';

registerHooks({
  resolve(name, context, next) {
    if (name.startsWith('@agentclientprotocol/')) throw new Error('not installed');
    return next(name, context);
  },
});
