/** Bounds how much happens at once under each key, so that what hangs holds up nothing but its own kind. */
export interface Slots {
  /** Calls `begin` as soon as the key has a slot free, first come first served; it never rejects. */
  enter(key: string, begin: () => Promise<void>): void;
}

interface Queue {
  free: number;
  readonly waiting: (() => Promise<void>)[];
}

export function createSlots(perKey: number): Slots {
  const queues = new Map<string, Queue>();

  async function work(queue: Queue): Promise<void> {
    queue.free -= 1;
    for (let begin = queue.waiting.shift(); begin !== undefined; begin = queue.waiting.shift()) await begin();
    queue.free += 1;
  }

  return {
    enter(key, begin) {
      const queue = queues.get(key) ?? { free: perKey, waiting: [] };
      queues.set(key, queue);
      queue.waiting.push(begin);
      if (queue.free > 0) void work(queue);
    },
  };
}
