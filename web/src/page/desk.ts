// The page's side of the worker: one task at a time, of which the newest counts.
//
// No message reaches a worker while it searches, and a page from a file has no memory that it could
// share with one. So a search that is no longer wanted is ended together with its worker, and the
// next one reads the file again. Searches are deterministic: the best plan of a search that was ended
// is found once more by another one that ends as soon as it is as good. A plan that comes within GRACE is
// shown even if it is no longer the newest.
import type { File, Opened, Planned, Reply, Request, Start, Swept, Task } from "../messages";

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
  best: number | null;
  /** When the worker was asked, in milliseconds. */
  asked: number;
  done: (result: Reply) => void;
  fail: (failure: Failure) => void;
}

/** Milliseconds that a plan may still take once another one is wanted: while a slider moves, pictures
 * must follow it, and a new worker takes longer than most plans. */
const GRACE = 400;

const nobody = { listener: {}, best: null, asked: 0, done: () => {}, fail: () => {} };

export class Desk {
  private worker: Worker | null = null;
  private running: Job | null = null;
  private waiting: Job[] = [];
  private files: File[] = [];
  private ids = 0;
  /** The last plan that was shown, and whether the worker has it. */
  private shown: Task | null = null;
  private atHand = false;

  constructor(
    private readonly makeWorker: () => Worker,
    private readonly wasm: Promise<WebAssembly.Module>,
  ) {}

  /** Nodes of the searches that the first worker ran while nothing was asked; 0: it has not. */
  warm = 0;
  /** Hires a worker before there is a file, so that it has compiled the planner by then. */
  async prepare(): Promise<void> {
    const wasm = await this.wasm.catch(() => null); // Whoever opens a file hears.
    if (wasm && !this.worker && !this.running) this.worker = this.hire(wasm, true);
  }

  /** Opens a file, or two plans; what was asked before is forgotten. */
  async open(files: File[]): Promise<Opened> {
    this.abandon();
    const reply = await this.ask({ do: "open", files }, {});
    if (reply.is !== "opened") throw new Failure("unexpected reply", "internal error");
    this.files = files;
    this.shown = null;
    return reply.opened;
  }
  /** A task that is about the file. `replaces`: what waits is no longer wanted, nor is what runs, unless
   * it is a plan that comes at once: that one is still told. */
  ask(task: Task, listener: Listener, replaces = false): Promise<Reply> {
    return new Promise((done, fail) => {
      if (replaces) this.replace();
      if (task.do === "take" && this.shown && !this.atHand && !this.running) {
        this.waiting.push({ ...nobody, id: ++this.ids, task: this.shown });
      }
      this.waiting.push({ ...nobody, id: ++this.ids, task, listener, done, fail });
      void this.next();
    });
  }
  /** Ends the running search; of a plan, the best so far is what it was asked for. */
  stop(): void {
    const job = this.running;
    if (!job || job.task.do === "open" || job.task.do === "take") return;
    this.running = null;
    if (job.task.do === "plan" && job.best !== null && job.task.enough === undefined) {
      this.waiting.unshift({
        ...job,
        id: ++this.ids,
        task: { ...job.task, enough: job.best, advise: null },
      });
    } else {
      job.fail(new Failure("The search was ended.", "stopped"));
    }
    this.renew();
  }
  private replace(): void {
    const job = this.running;
    const left = job ? job.asked + GRACE - performance.now() : 0;
    // Without a worker the file is read first.
    if (!job || job.task.do !== "plan" || job.task.advise || left <= 0) {
      if (job?.task.do !== "open" || job.listener !== nobody.listener) return this.abandon();
      return this.forget();
    }
    this.forget();
    setTimeout(() => {
      if (this.running === job) this.end(job);
    }, left);
  }
  private forget(): void {
    for (const job of this.waiting) job.fail(new Failure("replaced", "replaced"));
    this.waiting = [];
  }
  private abandon(): void {
    this.forget();
    if (this.running) this.end(this.running);
  }
  private end(job: Job): void {
    this.running = null;
    job.fail(new Failure("replaced", "replaced"));
    this.renew();
  }
  /** Another worker, with the same file. */
  private renew(): void {
    this.worker?.terminate();
    this.worker = null;
    this.atHand = false;
    if (this.files.length) {
      this.waiting.unshift({ ...nobody, id: ++this.ids, task: { do: "open", files: this.files } });
    }
    void this.next();
  }

  private async next(): Promise<void> {
    if (this.running) return;
    const job = this.waiting.shift();
    if (!job) return;
    this.running = job;
    if (!this.worker) {
      try {
        const wasm = await this.wasm;
        if (this.running !== job) return;
        this.worker ??= this.hire(wasm, false);
      } catch (error) {
        this.running = null;
        job.fail(
          new Failure(`This browser cannot run the planner: ${String(error)}`, "unsupported"),
        );
        return;
      }
    }
    job.asked = performance.now();
    const request: Request = { id: job.id, task: job.task };
    this.worker.postMessage(request);
  }
  private hire(wasm: WebAssembly.Module, warm: boolean): Worker {
    const worker = this.makeWorker();
    worker.addEventListener("message", ({ data }: MessageEvent<Reply>) => {
      if (this.worker === worker) this.hear(data);
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      if (this.worker === worker) this.break(`the planner failed: ${event.message}`);
    });
    const start: Start = { wasm, warm };
    worker.postMessage(start);
    return worker;
  }

  private hear(reply: Reply): void {
    if (reply.is === "warm") this.warm = reply.nodes;
    const job = this.running;
    if (!job || reply.id !== job.id) return;
    const { listener, task } = job;
    switch (reply.is) {
      case "progress":
        job.best = reply.best ?? job.best;
        listener.progress?.(reply.best, reply.bound, reply.seconds);
        return;
      case "planned":
        this.atHand = true;
        this.shown = { ...task, advise: null } as Task;
        if (reply.planned.final) this.release();
        listener.planned?.(reply.planned);
        if (!reply.planned.final) return;
        break;
      case "swept":
        listener.swept?.(reply.swept);
        if (!reply.swept.final) return;
        break;
      case "failed":
        // After these the module's memory cannot be relied on.
        if (["internal error", "out of memory"].includes(reply.status)) {
          this.break(reply.message, reply.status);
          return;
        }
        this.running = null;
        job.fail(new Failure(reply.message, reply.status));
        void this.next();
        return;
    }
    if (this.running === job) this.release();
    job.done(reply);
  }
  /** The worker goes on with what waits while the page draws. */
  private release(): void {
    this.running = null;
    void this.next();
  }
  private break(message: string, status = "internal error"): void {
    const job = this.running;
    this.running = null;
    job?.fail(new Failure(message, status));
    // A file that cannot even be opened is not opened again.
    if (job?.task.do === "open") this.files = [];
    this.renew();
  }
}
