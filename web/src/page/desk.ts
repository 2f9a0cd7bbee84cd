// The page's side of the worker: one task at a time, of which the newest counts.
import type { File, Opened, Planned, Reply, Request, Swept, Task } from "../messages";

export class Failure extends Error {
  constructor(
    message: string,
    readonly status: string,
  ) {
    super(message);
  }
}

export interface Listener {
  progress?: (best: number | null, bound: number, seconds: number) => void;
  planned?: (planned: Planned) => void;
  swept?: (swept: Swept) => void;
}

interface Job {
  id: number;
  task: Task;
  listener: Listener;
  flag: string | null;
  done: (result: Reply) => void;
  fail: (failure: Failure) => void;
}

/** How long a search may take to notice that it is no longer wanted. */
const PATIENCE = 600;

export class Desk {
  private worker: Worker | null = null;
  private running: Job | null = null;
  private waiting: Job[] = [];
  private files: File[] = [];
  private ids = 0;
  private impatience = 0;

  constructor(
    private readonly makeWorker: () => Worker,
    private readonly wasm: Promise<WebAssembly.Module>,
  ) {}

  get busy(): boolean {
    return this.running !== null;
  }

  /** Opens a file, or two plans; what was asked before is forgotten. */
  async open(files: File[]): Promise<Opened> {
    this.abandon();
    this.files = files;
    const reply = await this.ask({ do: "open", files }, {});
    if (reply.is === "opened") return reply.opened;
    throw new Failure("unexpected reply", "internal error");
  }
  /** A task that is about the file. `replaces`: what runs and what waits is no longer wanted. */
  ask(task: Task, listener: Listener, replaces = false): Promise<Reply> {
    return new Promise((done, fail) => {
      if (replaces) {
        for (const job of this.waiting) job.fail(new Failure("replaced", "replaced"));
        this.waiting = [];
        this.stop();
      }
      this.waiting.push({ id: ++this.ids, task, listener, flag: null, done, fail });
      this.next();
    });
  }
  /** Ends the running search with its best plan so far. */
  stop(): void {
    const job = this.running;
    if (!job || job.task.do === "open" || job.flag === null) return;
    URL.revokeObjectURL(job.flag);
    clearTimeout(this.impatience);
    this.impatience = window.setTimeout(() => {
      if (this.running === job) this.restart("stopped");
    }, PATIENCE);
  }
  private abandon(): void {
    for (const job of this.waiting) job.fail(new Failure("replaced", "replaced"));
    this.waiting = [];
    if (this.running) this.restart("replaced", false);
  }
  /** The worker is beyond reach: a new one takes its place, with the same file. */
  private restart(status: string, reopen = true): void {
    const job = this.running;
    this.worker?.terminate();
    this.worker = null;
    this.running = null;
    job?.fail(new Failure("The search was ended.", status));
    if (reopen && this.files.length && job?.task.do !== "open") {
      const open: Job = {
        id: ++this.ids,
        task: { do: "open", files: this.files },
        listener: {},
        flag: null,
        done: () => {},
        fail: () => {},
      };
      this.waiting.unshift(open);
    }
    this.next();
  }

  private async next(): Promise<void> {
    if (this.running) return;
    const job = this.waiting.shift();
    if (!job) return;
    this.running = job;
    if (!this.worker) {
      const wasm = await this.wasm.catch((error: unknown) => {
        job.fail(new Failure(`The planner cannot start: ${String(error)}`, "unsupported"));
        return null;
      });
      if (this.running !== job) return;
      if (!wasm) {
        this.running = null;
        return;
      }
      this.worker = this.makeWorker();
      const mine = this.worker;
      mine.addEventListener("message", ({ data }: MessageEvent<Reply>) => {
        if (this.worker === mine) this.hear(data);
      });
      mine.addEventListener("error", (event) => {
        event.preventDefault();
        if (this.worker === mine) this.restart(`internal error: ${event.message}`);
      });
      mine.postMessage({ wasm });
    }
    job.flag = URL.createObjectURL(new Blob([""]));
    const request: Request = { id: job.id, task: job.task, flag: job.flag };
    this.worker.postMessage(request);
  }

  private hear(reply: Reply): void {
    const job = this.running;
    if (!job || reply.id !== job.id) return;
    const { listener } = job;
    switch (reply.is) {
      case "progress":
        listener.progress?.(reply.best, reply.bound, reply.seconds);
        return;
      case "planned":
        listener.planned?.(reply.planned);
        if (!reply.planned.final) return;
        break;
      case "swept":
        listener.swept?.(reply.swept);
        if (!reply.swept.final) return;
        break;
      case "failed":
        this.finish(job);
        job.fail(new Failure(reply.message, reply.status));
        // After these the module's memory cannot be relied on.
        if (["internal error", "out of memory"].includes(reply.status)) {
          this.running = job;
          this.restart(reply.status);
          return;
        }
        void this.next();
        return;
    }
    this.finish(job);
    job.done(reply);
    void this.next();
  }
  private finish(job: Job): void {
    clearTimeout(this.impatience);
    if (job.flag) URL.revokeObjectURL(job.flag);
    this.running = null;
  }
}
