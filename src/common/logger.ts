/** The log of a module; VS Code's `LogOutputChannel` implements it. */
export interface Logger {
  trace(message: string): void
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

export const silentLogger: Logger = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

/** Writes to `log` until it's closed: when a window closes, agents that are still ending would write to a closed channel. */
export function untilClosed(log: Logger, isClosed: () => boolean): Logger {
  const write = (level: keyof Logger) => (message: string) => {
    if (!isClosed()) log[level](message)
  }
  return {
    trace: write('trace'),
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  }
}

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
