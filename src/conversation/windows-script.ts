/** Recognizes scripts of Windows shells. Pages don't load this module: they show such commands as the agent reports them. */

/** Matches a Windows shell by name or in its own folder: PowerShell, `cmd.exe`, or the bash of Git. */
const WINDOWS_SHELL =
  /^(?:[a-z]:\\(?:windows\\sys\w+|program files\\\w+)\\(?:windowspowershell\\v1\.0\\|7\\|(?:usr\\)?bin\\)?)?(?:(powershell|pwsh)|(cmd)|(?:ba)?sh(?=\.))(?:\.exe)?$/i

/** Returns the script that a Windows shell runs, given the words of a command; `undefined` if the command is another one. */
export function windowsScriptOf([shell = '', ...words]: readonly string[]): string | undefined {
  const script = words.pop()
  const [found, powershell, cmd] = WINDOWS_SHELL.exec(shell.replaceAll('/', '\\')) ?? []
  // allow only options that don't change the effect of a script
  const flags = powershell ? /^(?:-no\w+ )*-c(?:ommand)?$/i : cmd ? /^(?:\/[ds] )*\/c$/i : /^-l?c$/
  // `cmd.exe` parses quotes in its own way
  const isScript = found && flags.test(words.join(' ')) && !(cmd && script?.includes('"'))
  return isScript ? script : undefined
}
