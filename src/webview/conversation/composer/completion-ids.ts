// Of the lists above the composer, which has the focus and names the selected row. They are known before the lists are loaded.

export const commandListId = 'command-list'
export const mentionListId = 'mention-list'

export function commandRowId(index: number): string {
  return `command-${index}`
}

export function mentionRowId(index: number): string {
  return `mention-${index}`
}
