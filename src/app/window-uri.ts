/** The part of a folder's URI that says where the folder is. */
interface Origin {
  scheme: string
  authority: string
}

/**
 * Whether VS Code may be asked for the window of a folder or workspace that a file on this machine names, which anything may
 * have written. Any other URI could run an extension, or connect to a machine. `own`: of this window's workspace.
 */
export function mayFocus({ scheme, authority }: Origin, own: Origin | undefined): boolean {
  if (scheme === 'file') return authority === ''
  return scheme === 'vscode-remote' && own?.scheme === scheme && own.authority === authority
}
