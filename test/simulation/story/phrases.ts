/** Texts that people send to the bot, with their meaning. */
import type { Intent } from "#test/simulation/world/deliveries.ts";
import type { RunsService } from "#test/simulation/world/service/runs-service.ts";
import type { Random } from "./random.ts";

export interface Words {
  readonly text: string;
  readonly intent: Intent;
  readonly token: string | null;
  readonly verb: string | null;
  readonly target: string | null;
}

export class Phrases {
  readonly #random: Random;
  readonly #service: RunsService;
  #count = 0;

  constructor(random: Random, service: RunsService) {
    this.#random = random;
    this.#service = service;
  }

  plain(intent: Intent): Words {
    this.#count += 1;
    const token = `t${this.#count}x`;
    return { text: `do ${token} please`, intent, token, verb: null, target: null };
  }

  request(before: string): Words {
    const words = this.plain("dispatch");
    const flag = this.#random.weighted({ none: 80, name: 10, factory: 10 });
    const flags = { none: "", name: "--name other ", factory: "--factory fixers " }[flag];
    return { ...words, text: `${before}${flags}${words.text}` };
  }

  wrong(): Words {
    const text = this.#random.pick([
      "rnu it",
      "run",
      "run --modle x do it",
      "run --mcp none do it",
      "run --factory nobody do it",
    ]);
    return { text, intent: "wrong", token: null, verb: null, target: null };
  }

  control(): Words {
    const verb = this.#random.weighted({
      cancel: 6,
      retry: 5,
      attach: 6,
      status: 2,
      list: 1,
      help: 1,
      mute: 1,
      unmute: 1,
    });
    const known = [...this.#service.runs.keys()];
    const named = verb === "attach" || this.#random.chance(0.4);
    const takesRun = verb === "attach" || verb === "cancel" || verb === "retry" || verb === "status";
    const target =
      takesRun && named
        ? known.length > 0 && this.#random.chance(0.9)
          ? this.#random.pick(known)
          : "run-99"
        : null;
    return {
      text: target === null ? verb : `${verb} ${target}`,
      intent: "control",
      token: null,
      verb,
      target,
    };
  }

  afterMention(): Words {
    const kind = this.#random.weighted({ talk: 50, run: 20, control: 22, wrong: 8 });
    switch (kind) {
      case "talk":
        return this.plain("talk");
      case "run":
        return this.request("run ");
      case "control":
        return this.control();
      case "wrong":
        return { text: "run --modle x do it", intent: "wrong", token: null, verb: null, target: null };
      default:
        return kind satisfies never;
    }
  }
}
