/** Not loaded by pages, which show such commands as the agent reports them. */

/** A shell of Windows by name or in its own folder: PowerShell, `cmd.exe`, or the bash of Git. */
const WINDOWS_SHELL =
  /^(?:[a-z]:\\(?:windows\\sys\w+|program files\\\w+)\\(?:windowspowershell\\v1\.0\\|7\\|(?:usr\\)?bin\\)?)?(?:(powershell|pwsh)|(cmd)|(?:ba)?sh(?=\.))(?:\.exe)?$/i

/** The script that a shell of Windows runs, of the words of a command; `undefined` if it's another command. */
export function windowsScriptOf([shell = '', ...words]: readonly string[]): string | undefined {
  const script = words.pop()
  const [found, powershell, cmd] = WINDOWS_SHELL.exec(shell.replaceAll('/', '\\')) ?? []
  // only options that don't change what a script does
  const flags = powershell ? /^(?:-no\w+ )*-c(?:ommand)?$/i : cmd ? /^(?:\/[ds] )*\/c$/i : /^-l?c$/
  // `cmd.exe` doesn't read the quotes as they were written
  const isScript = found && flags.test(words.join(' ')) && !(cmd && script?.includes('"'))
  return isScript ? script : undefined
}
