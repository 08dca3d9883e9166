/** The client runtime as renders use it: what pages import as `fx/client`, and what renders them. */

export * from '../../client/index.js';
export { createRenderers } from '../../render/renderers.js';
