/** A field's name without case, dashes and underscores: agents write `workingDirectory`, `working_dir` or `Cwd`. */
export function fieldName(key: string): string {
  return key.replace(/[^a-z\d]/gi, '').toLowerCase()
}
