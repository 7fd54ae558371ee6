import * as l10n from '@vscode/l10n'

export interface TitledTab {
  title: string
  /** the name of the tab's agent */
  agent: string | undefined
}

/** Returns the titles of tabs, in the order in which the tabs were opened. Equal titles get the agent's name or a number at the end. */
export function tabTitles(tabs: readonly TitledTab[]): string[] {
  return tabs.map((tab, at) => {
    const alike = tabs.filter(other => other.title === tab.title)
    if (alike.length === 1) return tab.title
    const ofAgent = alike.filter(other => other.agent === tab.agent)
    const named =
      ofAgent.length < alike.length && tab.agent !== undefined && tab.agent !== tab.title
        ? l10n.t('{0} ({1})', tab.title, tab.agent)
        : tab.title
    const number = tabs.slice(0, at + 1).filter(other => ofAgent.includes(other)).length
    return number > 1 ? `${named} ${number}` : named
  })
}
