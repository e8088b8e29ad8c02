import { NetworkError, TimeoutError } from "ky";
import { ConnectionError, RequestTimeoutError } from "../errors.ts";

/** System calls that precede the first byte of a request. */
const beforeSending = new Set(["getaddrinfo", "connect"]);

/**
 * Codes of errors that precede the request and name no system call: DNS and connect errors of Node and undici,
 * and failed TLS handshakes. Resets and other TLS alerts may come after the request, so they are not here.
 */
const notSentCodes = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REVOKED",
  "CERT_REJECTED",
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION",
  "ERR_SSL_TLSV1_UNRECOGNIZED_NAME",
  "ERR_SSL_UNSUPPORTED_PROTOCOL",
]);

const timeOutCodes = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

/**
 * The error and its causes, outermost first; fetch puts the reason into the cause of its cause. An error of
 * another realm (a frame, a test runner) is not `instanceof Error`, so any object counts.
 */
function* chain(error: unknown): Generator<object> {
  // The limit ends a circular chain.
  for (let depth = 0; typeof error === "object" && error !== null && depth < 8; depth++) {
    yield error;
    error = Reflect.get(error, "cause");
  }
}

const textIn = (error: object, field: "code" | "syscall"): string | undefined => {
  const value: unknown = Reflect.get(error, field);
  return typeof value === "string" ? value : undefined;
};

const isNotSent = (error: object): boolean =>
  notSentCodes.has(textIn(error, "code") ?? "") || beforeSending.has(textIn(error, "syscall") ?? "");

/** The error for a request without a complete answer; `timeoutMs` is for the sentence of a time-out. */
export function connectionError(error: unknown, timeoutMs: number): ConnectionError {
  const causes = [...chain(error)];
  const code = causes.map((cause) => textIn(cause, "code")).find((each) => each !== undefined);
  // ky's errors contain the request, and with it the API key, so they can't be the cause.
  if (error instanceof TimeoutError || timeOutCodes.has(code ?? "")) {
    return new RequestTimeoutError({
      certainty: "unknown",
      retryable: true,
      reason: `The Agent Runs API did not answer within ${timeoutMs / 1000} s.`,
    });
  }
  const notSent = causes.some(isNotSent);
  const reason = code === undefined ? "" : ` (${code})`;
  return new ConnectionError(
    {
      certainty: notSent ? "not-sent" : "unknown",
      retryable: true,
      reason: notSent
        ? `The Agent Runs API could not be reached${reason}.`
        : `The connection to the Agent Runs API broke off${reason}.`,
    },
    { cause: error instanceof NetworkError ? error.cause : error },
  );
}
