/** Public entry `synod/testing`: the simulator and its parts. */
export { type Chance, createChance } from './chance.ts';
export { createDisk, type Disk, type Faults, openFaultyLog, verifyDisk } from './faulty-log.ts';
export { runSimulation, type SimulationReport } from './simulator.ts';
export type { SimulationOptions } from './stage.ts';
export { createVirtualClock, type VirtualClock } from './virtual-clock.ts';
