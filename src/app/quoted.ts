import { visible } from '../common/visible.ts'

/** Quotes a text as a shell user would, so that it never looks like two words or another line. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./~${}-]+$/.test(text) ? text : visible(JSON.stringify(text))
}

export function quotedEnvironment(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `${quoted(name)}=${quoted(value)}`)
    .join(' ')
}
