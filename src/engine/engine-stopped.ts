/** Rejects an event during the stop; the platform must redeliver it. */
export class EngineStopped extends Error {
  override name = "EngineStopped";
  constructor() {
    super("The bot is stopping and accepts no more events; deliver this one again later.");
  }
}
