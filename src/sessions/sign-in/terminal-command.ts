import { readFile } from 'node:fs/promises'

/** Runs the command after its own two arguments; one that fails says so in the file, and the terminal stays open. */
const SCRIPT = `message=$1; shift
"$@"
code=$?
[ "$code" -eq 0 ] && exit 0
printf '%s\\n' "$code" > "$0"
printf '\\r\\n%s' "$message"
read -r _
exit "$code"`

/**
 * What a terminal runs so that a failing command's output stays to be read: VS Code closes a terminal as soon as its
 * program exits. On Windows the command itself.
 * @param file where the exit code of a failure is written
 * @param message what is said under the output
 */
export function keepOpenOnFailure(
  command: string,
  args: readonly string[],
  { file, message, platform }: { file: string; message: string; platform: NodeJS.Platform },
): { command: string; args: string[] } {
  if (platform === 'win32') return { command, args: [...args] }
  return { command: '/bin/sh', args: ['-c', SCRIPT, file, message, command, ...args] }
}

/** The exit code that a failing command left in the file; `undefined` while there is none. */
export async function failedExitCode(file: string): Promise<number | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return /^\d+\n$/.test(text) ? Number(text) : undefined
}
