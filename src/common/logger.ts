/** The log of a module; VS Code's `LogOutputChannel` implements it. */
export interface Logger {
  trace(message: string): void
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

export const silentLogger: Logger = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

/** Writes to `log` with secrets redacted. */
export function redactingLogger(log: Logger, redact: (message: string) => string): Logger {
  return {
    trace: message => log.trace(redact(message)),
    debug: message => log.debug(redact(message)),
    info: message => log.info(redact(message)),
    warn: message => log.warn(redact(message)),
    error: message => log.error(redact(message)),
  }
}
