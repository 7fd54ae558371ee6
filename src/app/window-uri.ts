/** The part of a folder's URI that identifies the machine of the folder. */
interface Origin {
  scheme: string
  authority: string
}

/**
 * Whether VS Code may be asked for the window of a folder or workspace that is named in a file on this machine. Any program may have
 * written the file, and any other URI could run an extension, or connect to a machine. `own` is the URI of this window's workspace.
 */
export function mayFocus({ scheme, authority }: Origin, own: Origin | undefined): boolean {
  if (scheme === 'file') return authority === ''
  return scheme === 'vscode-remote' && own?.scheme === scheme && own.authority === authority
}
