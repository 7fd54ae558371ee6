import type { Logger } from '../common/logger.ts'
import { disk } from './file-system.ts'
import { type FilesShared, filesShared } from './files.ts'
import { PathRules } from './path-rules.ts'
import { VscodeDocuments } from './vscode-documents.ts'
import { vscodeEncodings } from './vscode-encodings.ts'

/** What the sessions of this window share to read and write files. */
export function vscodeFiles(log: Logger): FilesShared {
  const rules = new PathRules()
  return filesShared({
    documents: new VscodeDocuments(rules),
    fileSystem: disk,
    encodings: vscodeEncodings,
    rules,
    log,
  })
}
