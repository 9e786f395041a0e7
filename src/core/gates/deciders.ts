/** Who decides each command of gates and people. */
import { decideGate } from './gate.ts';
import { decidePerson } from './person.ts';

export interface GateDeciders {
  'gate.ask': typeof decideGate;
  'gate.decide': typeof decideGate;
  'gate.withdraw': typeof decideGate;
  'gate.consume': typeof decideGate;
  'person.add': typeof decidePerson;
  'person.remove': typeof decidePerson;
}

export const GATE_DECIDERS: GateDeciders = {
  'gate.ask': decideGate,
  'gate.decide': decideGate,
  'gate.withdraw': decideGate,
  'gate.consume': decideGate,
  'person.add': decidePerson,
  'person.remove': decidePerson,
};
