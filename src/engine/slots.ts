/** Bounds how much happens at once per system, so that a hanging one holds up nothing but itself. */
export interface Slots {
  /** Calls `begin` as soon as the system has a slot free, first come first served; it never rejects. */
  enter(system: string, begin: () => Promise<void>): void;
}

interface Queue {
  free: number;
  readonly waiting: (() => Promise<void>)[];
}

export function createSlots(perSystem: number): Slots {
  const queues = new Map<string, Queue>();

  async function work(queue: Queue): Promise<void> {
    queue.free -= 1;
    for (let begin = queue.waiting.shift(); begin !== undefined; begin = queue.waiting.shift()) await begin();
    queue.free += 1;
  }

  return {
    enter(system, begin) {
      const queue = queues.get(system) ?? { free: perSystem, waiting: [] };
      queues.set(system, queue);
      queue.waiting.push(begin);
      if (queue.free > 0) void work(queue);
    },
  };
}
