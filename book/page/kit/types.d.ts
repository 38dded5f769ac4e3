// What the helpers' comments name as types. Only tsc reads this.

/** What the reader sets, by its names. */
type Value = Record<string, any>;

/** As much of an anywidget's model as a figure uses. */
interface Model {
  get(trait: string): any;
  set(trait: string, content: any): void;
  save_changes(): void;
  on(event: string, act: () => void): void;
  off(event: string, act: () => void): void;
}

interface State {
  readonly value: Value;
  set(changes: Value): void;
  draw(...functions: ((value: Value) => void)[]): void;
  drawWide(node: Element, draw: (value: Value, width: number) => void): void;
  atEnd(act: () => void): void;
  close(): void;
}

type Attributes = Record<string, any> | null;
type Child = Node | string | null | Child[];
type Kind = "q" | "k" | "v" | "position" | "attention" | "stream" | "model" | "measure";

/** How a part gets to its goal, and the numbers that say where it is. */
interface Move {
  jump?: boolean;
  delay?: number;
  ms?: number;
}
type Place = Record<string, number>;

interface Part {
  node: SVGElement;
  to(changes: Place, move?: Move): void;
}

type Choice = string | number | [string | number, Child] | { group: string; options: Choice[] };

interface Axis {
  first: number;
  last: number;
  log?: boolean;
  ticks?: number[];
  text?: (tick: number) => string;
  gap?: number;
}

interface Goal {
  text: string;
  reached: (value: Value) => boolean;
}

interface Step {
  name: string;
  caption: Child | ((value: Value) => Child);
  hold?: (value: Value) => boolean;
}

interface DocumentOrShadowRoot {
  /** The sheets that figures have adopted here. */
  companionSheets?: Set<string>;
}
interface Document {
  /** How many groups of radio buttons have got a name. */
  companionNames?: number;
}
