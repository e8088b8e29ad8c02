/**
 * The Agent Runs API's wire format, shared by the client and the embedded service, which imports this file only.
 * Answers are read leniently (unknown fields are kept, unknown enum values are plain strings, an optional field
 * may be null); requests are checked strictly.
 */
export * from "./schema/catalog.ts";
export { type AgentConfig, agentConfig, type McpServerConfig, mcpServerConfig } from "./schema/config.ts";
export * from "./schema/conversation.ts";
export * from "./schema/factory.ts";
export { mapOf, textMap } from "./schema/lenient.ts";
export * from "./schema/problem.ts";
export * from "./schema/run.ts";
export * from "./schema/run-requests.ts";
