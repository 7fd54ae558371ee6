import * as vscode from 'vscode'
import type { Encodings } from './text-file.ts'

/** The encodings that VS Code reads and writes, as `files.encoding` sets them. */
export const vscodeEncodings: Encodings = {
  configured(path) {
    const encoding = vscode.workspace.getConfiguration('files', vscode.Uri.file(path)).get('encoding')
    return typeof encoding === 'string' && encoding !== 'utf8' ? encoding : undefined
  },
  decode: async (bytes, encoding) => vscode.workspace.decode(bytes, { encoding }),
  encode: async (text, encoding) => vscode.workspace.encode(text, { encoding }),
}
