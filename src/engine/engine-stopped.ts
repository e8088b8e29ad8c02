/** Thrown at whoever brings an event while the engine stops; it is to be delivered again later. */
export class EngineStopped extends Error {
  override name = "EngineStopped";
  constructor() {
    super("The bot is stopping and takes no more events; deliver it again in a while.");
  }
}
