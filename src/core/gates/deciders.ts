/** Who decides each command of gates and people. */
import { decideGate } from './gate.ts';
import { decidePasskey } from './passkey.ts';
import { decidePerson } from './person.ts';

export interface GateDeciders {
  'gate.ask': typeof decideGate;
  'gate.decide': typeof decideGate;
  'gate.withdraw': typeof decideGate;
  'gate.consume': typeof decideGate;
  'person.add': typeof decidePerson;
  'person.remove': typeof decidePerson;
  'passkey.add': typeof decidePasskey;
  'passkey.remove': typeof decidePasskey;
  'passkey.use': typeof decidePasskey;
}

export const GATE_DECIDERS: GateDeciders = {
  'gate.ask': decideGate,
  'gate.decide': decideGate,
  'gate.withdraw': decideGate,
  'gate.consume': decideGate,
  'person.add': decidePerson,
  'person.remove': decidePerson,
  'passkey.add': decidePasskey,
  'passkey.remove': decidePasskey,
  'passkey.use': decidePasskey,
};
