/** How much each measurement sends. The titles of the measurements mention these sizes. */
export const turns = 1000
const updatesOfATurn = 10
/** The id of a session tells the fixture agent how much to replay. */
export const bigSession = { id: `big-${turns}-${updatesOfATurn}`, title: 'A thousand turns' }
export const characters = 24
export const perSecond = 40
