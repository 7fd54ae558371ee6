/**
 * Whether a `when` clause of package.json holds. Such a clause uses `&&`, `!`, `==`, and `=~` with a regular expression.
 */
export function holds(when: string | undefined, lookUp: (key: string) => unknown): boolean {
  if (when === undefined) return true
  return when.split('&&').every(part => {
    const [, not, key = '', operator, wanted = ''] =
      /^(!?)([\w.]+)(?:\s*(==|=~)\s*(.*))?$/.exec(part.trim()) ?? []
    const value = lookUp(key)
    const isSo = () => {
      if (operator === '=~') return new RegExp(wanted.slice(1, -1)).test(String(value ?? ''))
      return operator === '==' ? value === wanted.replace(/^'(.*)'$/, '$1') : Boolean(value)
    }
    return isSo() !== (not === '!')
  })
}
