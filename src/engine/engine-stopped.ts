/** Thrown for an event that comes while the engine stops; its sender must deliver it again later. */
export class EngineStopped extends Error {
  override name = "EngineStopped";
  constructor() {
    super("The bot is stopping and takes no more events; deliver this one again later.");
  }
}
