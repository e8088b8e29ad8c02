/**
 * Loaded into the bot's process with `--import`: shifts its wall clock by the milliseconds in the file that
 * `CLOCK_FILE` names, as if somebody had set the machine's clock. Monotonic clocks stay.
 */
import { readFileSync } from "node:fs";

const file = process.env.CLOCK_FILE ?? "";
const RealDate = Date;
let shiftMs = 0;

function read() {
  try {
    shiftMs = Number(readFileSync(file, "utf8")) || 0;
  } catch {
    shiftMs = 0;
  }
}
read();
setInterval(read, 50).unref();

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shiftMs);
    else super(...given);
  }
  static now() {
    return RealDate.now() + shiftMs;
  }
};
