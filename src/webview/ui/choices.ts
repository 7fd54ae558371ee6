export interface MenuChoice {
  value: string
  name: string
  description?: string
  group?: string
  /** codicon, in place of the check mark */
  icon?: string
  /** It stands in the list a second time, further down: a search finds it there. */
  again?: boolean
}

/** The choices in which every word of the query occurs, those whose name begins with it first. */
export function matchChoices(choices: readonly MenuChoice[], query: string): readonly MenuChoice[] {
  const words = query.toLocaleLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return choices
  const scored = choices.flatMap((choice, order) => {
    if (choice.again) return []
    const name = choice.name.toLocaleLowerCase()
    const text = `${name} ${choice.value.toLocaleLowerCase()} ${choice.group?.toLocaleLowerCase() ?? ''}`
    if (!words.every(word => text.includes(word))) return []
    return [{ choice, order, score: name.startsWith(words[0]!) ? 0 : name.includes(words[0]!) ? 1 : 2 }]
  })
  return scored.sort((a, b) => a.score - b.score || a.order - b.order).map(match => match.choice)
}
