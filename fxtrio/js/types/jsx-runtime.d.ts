/**
 * The attributes of HTML elements as React declares them, in a form that is quicker to check.
 *
 * React's is an intersection for each element, of which TypeScript looks at all 300 attributes
 * before it looks at those that are there. That is half of what a check of a page costs, and what
 * `fx dev` does after each save. An interface with the same members needs nothing of it. Elements
 * that are not listed are as in React. `tests/declarations.ts` compares both.
 */

import type * as React from 'react';

export { Fragment } from 'react';

interface ElementProps<T> extends React.ClassAttributes<T>, React.HTMLAttributes<T> {}
interface AnchorProps<T> extends React.ClassAttributes<T>, React.AnchorHTMLAttributes<T> {}
interface BlockquoteProps<T> extends React.ClassAttributes<T>, React.BlockquoteHTMLAttributes<T> {}
interface ButtonProps<T> extends React.ClassAttributes<T>, React.ButtonHTMLAttributes<T> {}
interface DetailsProps<T> extends React.ClassAttributes<T>, React.DetailsHTMLAttributes<T> {}
interface DialogProps<T> extends React.ClassAttributes<T>, React.DialogHTMLAttributes<T> {}
interface FieldsetProps<T> extends React.ClassAttributes<T>, React.FieldsetHTMLAttributes<T> {}
interface FormProps<T> extends React.ClassAttributes<T>, React.FormHTMLAttributes<T> {}
interface IframeProps<T> extends React.ClassAttributes<T>, React.IframeHTMLAttributes<T> {}
interface ImgProps<T> extends React.ClassAttributes<T>, React.ImgHTMLAttributes<T> {}
interface InputProps<T> extends React.ClassAttributes<T>, React.InputHTMLAttributes<T> {}
interface LabelProps<T> extends React.ClassAttributes<T>, React.LabelHTMLAttributes<T> {}
interface LiProps<T> extends React.ClassAttributes<T>, React.LiHTMLAttributes<T> {}
interface OlProps<T> extends React.ClassAttributes<T>, React.OlHTMLAttributes<T> {}
interface OptionProps<T> extends React.ClassAttributes<T>, React.OptionHTMLAttributes<T> {}
interface ProgressProps<T> extends React.ClassAttributes<T>, React.ProgressHTMLAttributes<T> {}
interface SelectProps<T> extends React.ClassAttributes<T>, React.SelectHTMLAttributes<T> {}
interface TableProps<T> extends React.ClassAttributes<T>, React.TableHTMLAttributes<T> {}
interface TdProps<T> extends React.ClassAttributes<T>, React.TdHTMLAttributes<T> {}
interface TextareaProps<T> extends React.ClassAttributes<T>, React.TextareaHTMLAttributes<T> {}
interface ThProps<T> extends React.ClassAttributes<T>, React.ThHTMLAttributes<T> {}
interface TimeProps<T> extends React.ClassAttributes<T>, React.TimeHTMLAttributes<T> {}
interface VideoProps<T> extends React.ClassAttributes<T>, React.VideoHTMLAttributes<T> {}

export namespace JSX {
  type ElementType = React.JSX.ElementType;
  interface Element extends React.JSX.Element {}
  interface ElementClass extends React.JSX.ElementClass {}
  interface ElementAttributesProperty extends React.JSX.ElementAttributesProperty {}
  interface ElementChildrenAttribute extends React.JSX.ElementChildrenAttribute {}
  /** What React's says, which is `P` for all others, and is found sooner. */
  type LibraryManagedAttributes<C, P> = C extends
    { $$typeof: any } | { propTypes: any } | { defaultProps: any }
    ? React.JSX.LibraryManagedAttributes<C, P>
    : P;
  interface IntrinsicAttributes extends React.JSX.IntrinsicAttributes {}
  interface IntrinsicClassAttributes<T> extends React.JSX.IntrinsicClassAttributes<T> {}
  interface IntrinsicElements extends React.JSX.IntrinsicElements {
    a: AnchorProps<HTMLAnchorElement>;
    article: ElementProps<HTMLElement>;
    aside: ElementProps<HTMLElement>;
    b: ElementProps<HTMLElement>;
    blockquote: BlockquoteProps<HTMLQuoteElement>;
    body: ElementProps<HTMLBodyElement>;
    br: ElementProps<HTMLBRElement>;
    button: ButtonProps<HTMLButtonElement>;
    caption: ElementProps<HTMLElement>;
    code: ElementProps<HTMLElement>;
    dd: ElementProps<HTMLElement>;
    details: DetailsProps<HTMLDetailsElement>;
    dialog: DialogProps<HTMLDialogElement>;
    div: ElementProps<HTMLDivElement>;
    dl: ElementProps<HTMLDListElement>;
    dt: ElementProps<HTMLElement>;
    em: ElementProps<HTMLElement>;
    fieldset: FieldsetProps<HTMLFieldSetElement>;
    figcaption: ElementProps<HTMLElement>;
    figure: ElementProps<HTMLElement>;
    footer: ElementProps<HTMLElement>;
    form: FormProps<HTMLFormElement>;
    h1: ElementProps<HTMLHeadingElement>;
    h2: ElementProps<HTMLHeadingElement>;
    h3: ElementProps<HTMLHeadingElement>;
    h4: ElementProps<HTMLHeadingElement>;
    h5: ElementProps<HTMLHeadingElement>;
    h6: ElementProps<HTMLHeadingElement>;
    header: ElementProps<HTMLElement>;
    hr: ElementProps<HTMLHRElement>;
    i: ElementProps<HTMLElement>;
    iframe: IframeProps<HTMLIFrameElement>;
    img: ImgProps<HTMLImageElement>;
    input: InputProps<HTMLInputElement>;
    label: LabelProps<HTMLLabelElement>;
    legend: ElementProps<HTMLLegendElement>;
    li: LiProps<HTMLLIElement>;
    main: ElementProps<HTMLElement>;
    nav: ElementProps<HTMLElement>;
    ol: OlProps<HTMLOListElement>;
    option: OptionProps<HTMLOptionElement>;
    p: ElementProps<HTMLParagraphElement>;
    pre: ElementProps<HTMLPreElement>;
    progress: ProgressProps<HTMLProgressElement>;
    section: ElementProps<HTMLElement>;
    select: SelectProps<HTMLSelectElement>;
    small: ElementProps<HTMLElement>;
    span: ElementProps<HTMLSpanElement>;
    strong: ElementProps<HTMLElement>;
    sub: ElementProps<HTMLElement>;
    summary: ElementProps<HTMLElement>;
    sup: ElementProps<HTMLElement>;
    table: TableProps<HTMLTableElement>;
    tbody: ElementProps<HTMLTableSectionElement>;
    td: TdProps<HTMLTableDataCellElement>;
    textarea: TextareaProps<HTMLTextAreaElement>;
    tfoot: ElementProps<HTMLTableSectionElement>;
    th: ThProps<HTMLTableHeaderCellElement>;
    thead: ElementProps<HTMLTableSectionElement>;
    time: TimeProps<HTMLTimeElement>;
    tr: ElementProps<HTMLTableRowElement>;
    ul: ElementProps<HTMLUListElement>;
    video: VideoProps<HTMLVideoElement>;
  }
}

export function jsx(type: React.ElementType, props: unknown, key?: React.Key): React.ReactElement;
export function jsxs(type: React.ElementType, props: unknown, key?: React.Key): React.ReactElement;
