/** Builds a StdioBus with setters: the last one wins, and nothing is checked before `build`. */
import type { Backend } from './backend.ts';
import type { WorkerFunction } from './function-worker.ts';
import type {
  BusConfigOptions,
  DockerOptions,
  EmbeddedOptions,
  SocketOptions,
  StdioBusOptions,
  SubprocessOptions,
} from './options.ts';
import type { SessionMode } from './session-book.ts';
import type { BackendMode } from './states.ts';
import { StdioBus } from './stdio-bus.ts';

export class StdioBusBuilder {
  private options: StdioBusOptions = {};

  config(config: BusConfigOptions): this {
    return this.set({ config });
  }

  configPath(configPath: string): this {
    return this.set({ configPath });
  }

  backend(backend: BackendMode | Backend): this {
    return this.set({ backend });
  }

  timeoutMs(timeoutMs: number): this {
    return this.set({ timeoutMs });
  }

  session(session: SessionMode): this {
    return this.set({ session });
  }

  functions(functions: Readonly<Record<string, WorkerFunction>>): this {
    return this.set({ functions });
  }

  embedded(embedded: EmbeddedOptions): this {
    return this.set({ embedded });
  }

  subprocess(subprocess: SubprocessOptions): this {
    return this.set({ subprocess });
  }

  socket(socket: SocketOptions): this {
    return this.set({ socket });
  }

  docker(docker: DockerOptions): this {
    return this.set({ docker });
  }

  onLog(onLog: NonNullable<StdioBusOptions['onLog']>): this {
    return this.set({ onLog });
  }

  build(): StdioBus {
    return new StdioBus(this.options);
  }

  private set(some: StdioBusOptions): this {
    this.options = { ...this.options, ...some };
    return this;
  }
}
