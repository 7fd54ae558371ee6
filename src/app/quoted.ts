import { visible } from '../common/visible.ts'

/** As a shell user would write it: what isn't plain is in quotes, so that nothing looks like two words or another line. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./~${}-]+$/.test(text) ? text : visible(JSON.stringify(text))
}

export function quotedEnvironment(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `${quoted(name)}=${quoted(value)}`)
    .join(' ')
}
