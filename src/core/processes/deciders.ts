/** Who decides each command of definitions and instances. */
import { decideDefine, decideUndefine } from './definition.ts';
import { decideReport, decideStart, decideStop, decideTake } from './instance.ts';

export interface ProcessDeciders {
  'agent.define': typeof decideDefine;
  'agent.undefine': typeof decideUndefine;
  'instance.start': typeof decideStart;
  'instance.take': typeof decideTake;
  'instance.report': typeof decideReport;
  'instance.stop': typeof decideStop;
}

export const PROCESS_DECIDERS: ProcessDeciders = {
  'agent.define': decideDefine,
  'agent.undefine': decideUndefine,
  'instance.start': decideStart,
  'instance.take': decideTake,
  'instance.report': decideReport,
  'instance.stop': decideStop,
};
