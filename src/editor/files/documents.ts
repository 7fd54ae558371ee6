/** A text document that the editor has open, as `SessionFiles` sees it. */
export interface OpenDocument {
  /** the whole text, unsaved changes included, with the document's own line ends */
  text(): string
  isDirty(): boolean
  /** It was closed since it was found, and takes no more changes. */
  isClosed(): boolean
  /** It has one kind of line end; text put in gets it. */
  readonly lineEnd: '\n' | '\r\n'
  /** VS Code's name of the encoding that it is saved in: `utf8`, `utf8bom`, `windows1252`, … */
  readonly encoding: string
  /**
   * Replaces the UTF-16 units from `start` to `end` as one step of undo, if the text is still `expected`. False:
   * the text had changed, or the editor did not take it.
   */
  replace(edit: { start: number; end: number; text: string }, expected: string): Promise<boolean>
  /** False: the editor did not save it (it shows the person why). */
  save(): Promise<boolean>
}

/** The editor's open documents of files on this machine's disk. */
export interface Documents {
  /** The document of any of these spellings of one path. */
  find(paths: readonly string[]): OpenDocument | undefined
}

/** For where there is no editor. */
export const noDocuments: Documents = { find: () => undefined }
