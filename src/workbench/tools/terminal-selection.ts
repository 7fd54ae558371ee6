import * as vscode from 'vscode'

/** The selection in the active terminal. VS Code provides it only through the clipboard, which is restored afterward. */
export async function terminalSelection(): Promise<{ terminal: string; text: string } | undefined> {
  const terminal = vscode.window.activeTerminal
  if (!terminal) return undefined
  const { clipboard } = vscode.env
  const before = await clipboard.readText()
  await clipboard.writeText('')
  try {
    await vscode.commands.executeCommand('workbench.action.terminal.copySelection')
    const text = await clipboard.readText()
    return text.trim() === '' ? undefined : { terminal: terminal.name, text }
  } finally {
    await clipboard.writeText(before)
  }
}
