/** How much each measurement sends, with the names in the targets. */
export const turns = 1000
const updatesOfATurn = 10
/** The fixture agent reads from a session's id how much to replay. */
export const bigSession = { id: `big-${turns}-${updatesOfATurn}`, title: 'A thousand turns' }
export const characters = 24
export const perSecond = 40
