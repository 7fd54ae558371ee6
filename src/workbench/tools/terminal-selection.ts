import * as vscode from 'vscode'

let last: Promise<unknown> = Promise.resolve()

/**
 * Resolves to the selection in the active terminal. VS Code provides it only through the clipboard, whose text is restored afterward. Calls
 * run one after the other, since a call would mistake another call's text for the user's.
 */
export function terminalSelection(): Promise<{ terminal: string; text: string } | undefined> {
  const reading = last.then(read)
  last = reading.catch(() => {})
  return reading
}

async function read(): Promise<{ terminal: string; text: string } | undefined> {
  const terminal = vscode.window.activeTerminal
  if (!terminal) return undefined
  const { clipboard } = vscode.env
  const before = await clipboard.readText()
  // without a text there may be an image, which stays if nothing is selected
  if (before !== '') await clipboard.writeText('')
  let text = ''
  try {
    await vscode.commands.executeCommand('workbench.action.terminal.copySelection')
    text = await clipboard.readText()
  } finally {
    if (before !== '' || text !== '') await clipboard.writeText(before)
  }
  return text.trim() === '' ? undefined : { terminal: terminal.name, text }
}
