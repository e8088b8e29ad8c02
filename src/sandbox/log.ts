/** What the sandbox says of itself; fields hold no secrets and nothing that people wrote. */
export interface SandboxLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}
