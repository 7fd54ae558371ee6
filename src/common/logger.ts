/** The log of a module; VS Code's `LogOutputChannel` implements it. */
export interface Logger {
  trace(message: string): void
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

export const silentLogger: Logger = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

/** Creates a logger that passes each message with its level to `write`. */
export function loggerTo(write: (level: keyof Logger, message: string) => void): Logger {
  return {
    trace: message => write('trace', message),
    debug: message => write('debug', message),
    info: message => write('info', message),
    warn: message => write('warn', message),
    error: message => write('error', message),
  }
}

/**
 * Creates a logger that writes to `log` until that's closed: when a window closes, agents that are still ending would write to a closed
 * channel.
 */
export function untilClosed(log: Logger, isClosed: () => boolean): Logger {
  return loggerTo((level, message) => {
    if (!isClosed()) log[level](message)
  })
}

/** Creates a logger that writes to `log` with secrets redacted. */
export function redactingLogger(log: Logger, redact: (message: string) => string): Logger {
  return loggerTo((level, message) => log[level](redact(message)))
}
