// The IDs of the lists above the composer, which keeps the focus and refers to the selected row. In a module of their own, since the
// lists are loaded later.

export const commandListId = 'command-list'
export const mentionListId = 'mention-list'

export function commandRowId(index: number): string {
  return `command-${index}`
}

export function mentionRowId(index: number): string {
  return `mention-${index}`
}
