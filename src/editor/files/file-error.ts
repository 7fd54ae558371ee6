import { messageOf } from '../../common/errors.ts'

/** Why a file could not be read or written, in a sentence that helps the agent and the person alike. */
export class FileError extends Error {
  override readonly name = 'FileError'
  readonly reason: FileErrorReason

  constructor(reason: FileErrorReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
export type FileErrorReason =
  | 'refused'
  | 'binary'
  | 'encoding'
  | 'too-large'
  | 'folder'
  | 'no-right'
  | 'no-space'
  | 'not-saved'
  | 'ended'
  | 'other'

/** The file system's error in words. `doing` is the verb: "read", "write". */
export function fileErrorOf(error: unknown, doing: string, path: string): Error {
  if (error instanceof FileError) return error
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  const cause = { cause: error }
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return new FileError('no-right', `Cannot ${doing} ${path}: permission denied.`, cause)
    case 'EROFS':
      return new FileError('no-right', `Cannot ${doing} ${path}: the file system is read-only.`, cause)
    case 'ENOSPC':
    case 'EDQUOT':
      return new FileError('no-space', `Cannot ${doing} ${path}: no space is left on the disk.`, cause)
    case 'EISDIR':
      return new FileError('folder', `Cannot ${doing} ${path}: it is a folder, not a file.`, cause)
    case 'ENOTDIR':
    case 'EEXIST':
      return new FileError('other', `Cannot ${doing} ${path}: a folder on its way is a file.`, cause)
    case 'ELOOP':
      return new FileError('other', `Cannot ${doing} ${path}: its links lead in a circle.`, cause)
    case 'ENAMETOOLONG':
      return new FileError('other', `Cannot ${doing} ${path}: the name is too long.`, cause)
    case 'EMFILE':
    case 'ENFILE':
      return new FileError('other', `Cannot ${doing} ${path}: too many files are open.`, cause)
    case 'EBUSY':
    case 'ETXTBSY':
      return new FileError('other', `Cannot ${doing} ${path}: another program is using it.`, cause)
    default:
      return new FileError('other', `Cannot ${doing} ${path}: ${messageOf(error)}`, cause)
  }
}
