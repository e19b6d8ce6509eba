import { dialectOf, refHidesSiblings } from '../../json-schema/dialect.js';
import { pointerSegments } from '../../json-schema/json-pointer.js';
import { defaultSchemaLimits } from '../../json-schema/limits.js';
import { checkSize } from '../../json-schema/registration.js';
import { Resources, type Location } from '../../json-schema/resources.js';
import { SchemaError } from '../../json-schema/schema-error.js';
import { isJsonObject, ownProperty, type JsonObject } from '../../json/json-values.js';
import {
  declaredKinds,
  describedKinds,
  listedValues,
  partsIn,
  type Kind,
  type SchemaSite,
} from './schema-parts.js';
import {
  anyObjectType,
  arrayType,
  descriptionOf,
  literalType,
  objectType,
  type WritePart,
} from './structure-types.js';
import {
  intersectionOf,
  neverType,
  simpleType,
  unionOf,
  unknownType,
  type TypeExpression,
} from './type-expression.js';
import { docComment, typeName } from './type-text.js';

/** References that lead straight to references are followed so far: each is a step of recursion here. */
const MAX_REFERENCE_CHAIN = 16;

/** The schema of the arguments or of the result of one function: references stay inside it. */
interface Document {
  readonly resources: Resources;
  readonly hasSiblingsHidden: (schema: JsonObject) => boolean;
  /** For what has no name of its own, such as `GetForecastArguments`. */
  readonly name: string;
}

/** Where a schema is written. */
interface Place {
  readonly document: Document;
  readonly indent: string;
  /**
   * The schemas that are being written, the outermost first, if a type that refers to one of them here would never
   * end. Undefined inside a list or an object: the compiler looks into those only when it needs to.
   */
  readonly around: readonly object[] | undefined;
  /** The same, when that is undefined because of a list alone. */
  readonly aroundList: readonly object[] | undefined;
  /** The compiler looks at once into all of a tuple, but for the objects in it. */
  readonly isInTuple: boolean;
  /** What the schemas around this one leave of the kinds; undefined when any. */
  readonly kinds: readonly Kind[] | undefined;
}

const inNothing = { aroundList: undefined, isInTuple: false };

/** A schema that something refers to. */
interface NamedType {
  readonly name: string;
  readonly location: Location;
  readonly document: Document;
  /** Undefined until it is written. */
  type: TypeExpression | undefined;
}

/**
 * Writes JSON Schemas of strangers as TypeScript. A type takes at least the values that its schema takes: what
 * TypeScript cannot say is left out, what cannot be understood is `unknown`. (One exception: a schema that describes
 * properties or items without a `type` is taken for an object or an array, as its author meant it.) Nothing is
 * fetched, and the work is bounded.
 */
export class SchemaTypes {
  readonly #names: Set<string>;
  readonly #named = new Map<object, NamedType>();

  /** @param taken names that no type may have */
  constructor(taken: Iterable<string>) {
    this.#names = new Set(taken);
  }

  /**
   * The type of a schema; {@link declarations} tells what it refers to.
   * @param name what the schema is called where it refers to itself
   * @param kinds of which the values are, as the caller knows
   */
  write(schema: unknown, name: string, indent: string, kinds: readonly Kind[] | undefined): TypeExpression {
    try {
      checkSize(schema, defaultSchemaLimits);
      const dialect = dialectOf(schema);
      const resources = new Resources(schema, dialect, defaultSchemaLimits.maxReferenceLength);
      const hasSiblingsHidden = (part: JsonObject): boolean => refHidesSiblings(part, dialect);
      const document = { resources, hasSiblingsHidden, name };
      const around = isJsonObject(schema) ? [schema] : [];
      const type = this.#write(resources.root, { document, indent, around, ...inNothing, kinds });
      return this.#nameOf(resources.root, kinds) ?? type;
    } catch (error) {
      if (error instanceof SchemaError) return unknownType;
      throw error;
    }
  }

  /** The declarations of the types that have a name. */
  declarations(): string[] {
    const texts = [];
    // more are added on the way, and the loop comes to them too
    for (const [schema, named] of this.#named) {
      const { text } = this.#writeNamed(schema, named, []);
      texts.push(`${docComment(descriptionOf(schema), '')}export type ${named.name} = ${text};\n`);
    }
    return texts;
  }

  #write(location: Location, place: Place): TypeExpression {
    const { schema } = location;
    if (schema === false) return neverType;
    if (!isJsonObject(schema)) return unknownType;
    const { document } = place;
    const site = {
      ...location,
      schema,
      resource: document.resources.startingAt(schema) ?? location.resource,
    };
    const target = this.#refer(site, place);
    if (document.hasSiblingsHidden(schema)) return target;
    const kinds = commonKinds(declaredKinds(site), place.kinds);
    const others = [target, ...this.#writeCombined(site, { ...place, kinds })];
    const own = this.#writeOwn(site, { ...place, kinds });
    // that it is an object says nothing new beside what it is
    if (own === anyObjectType && others.some(({ text }) => text !== 'unknown')) return intersectionOf(others);
    return intersectionOf([own, ...others]);
  }

  /** `allOf`, `anyOf`, `oneOf`. */
  #writeCombined(site: SchemaSite, place: Place): TypeExpression[] {
    const write = (part: Location): TypeExpression => this.#write(part, place);
    return [
      ...(partsIn(site, 'allOf') ?? []).map(write),
      ...['anyOf', 'oneOf'].flatMap((keyword) => {
        const branches = partsIn(site, keyword);
        return branches === undefined ? [] : [unionOf(branches.map(write))];
      }),
    ];
  }

  /** What a schema says by itself. */
  #writeOwn(site: SchemaSite, place: Place): TypeExpression {
    const values = listedValues(site, place.kinds);
    if (values !== undefined) return unionOf(values.map(literalType));
    const described = describedKinds(site);
    if (declaredKinds(site) === undefined && described.length === 0) return unknownType;
    return unionOf((place.kinds ?? described).map((kind) => this.#writeKind(kind, site, place)));
  }

  #writeKind(kind: Kind, site: SchemaSite, place: Place): TypeExpression {
    const { document, indent, isInTuple } = place;
    const inside =
      (parts: Pick<Place, 'around' | 'aroundList' | 'isInTuple'>): WritePart =>
      (part, inner) =>
        this.#write(part, { document, indent: inner, kinds: undefined, ...parts });
    if (kind === 'object') return objectType(site, indent, inside({ around: undefined, ...inNothing }));
    if (kind === 'array') {
      const around = place.around ?? place.aroundList;
      const inTuple = inside({ around, aroundList: undefined, isInTuple: true });
      const inList = inside({ around: undefined, aroundList: around, isInTuple: false });
      return arrayType(site, indent, { inTuple, inList: isInTuple ? inTuple : inList });
    }
    return simpleType(kind, kind === 'boolean' ? 2 : 1);
  }

  /** `$ref`: the name of what it points at; `unknown` when that is nothing, or endless. */
  #refer(site: SchemaSite, { document, around }: Place): TypeExpression {
    const target = resolved(site, document);
    if (target === undefined) return unknownType;
    const { schema } = target;
    if (!isJsonObject(schema)) return schema === false ? neverType : unknownType;
    if (around !== undefined && (around.includes(schema) || around.length > MAX_REFERENCE_CHAIN)) {
      return unknownType;
    }
    const named = this.#named.get(schema) ?? this.#name(target, schema, document);
    if (around !== undefined) this.#writeNamed(schema, named, around);
    return simpleType(named.name, named.type?.width ?? widthOf(schema));
  }

  #name(location: Location, schema: JsonObject, document: Document): NamedType {
    const segment = location.path === '' ? '' : pointerSegments(location.path).at(-1);
    const wanted = segment === undefined || segment === '' ? document.name : typeName(segment, document.name);
    let name = wanted;
    for (let count = 2; this.#names.has(name); count += 1) name = `${wanted}${count}`;
    this.#names.add(name);
    const named = { name, location, document, type: undefined };
    this.#named.set(schema, named);
    return named;
  }

  /** The name of a root that refers to itself, unless it may be more than the kinds that are wanted. */
  #nameOf(
    { schema, path, resource }: Location,
    kinds: readonly Kind[] | undefined,
  ): TypeExpression | undefined {
    if (!isJsonObject(schema)) return undefined;
    const named = this.#named.get(schema);
    const own = declaredKinds({ schema, path, resource });
    const isWanted = kinds === undefined || (own !== undefined && own.every((kind) => kinds.includes(kind)));
    return named === undefined || !isWanted ? undefined : simpleType(named.name, widthOf(schema));
  }

  #writeNamed(schema: object, named: NamedType, around: readonly object[]): TypeExpression {
    const { location, document } = named;
    named.type ??= this.#write(location, {
      document,
      indent: '',
      around: [...around, schema],
      ...inNothing,
      kinds: undefined,
    });
    return named.type;
  }
}

function resolved(site: SchemaSite, { resources }: Document): Location | undefined {
  const reference = ownProperty(site.schema, '$ref');
  if (typeof reference !== 'string') return undefined;
  try {
    return resources.resolve('$ref', reference, site);
  } catch (error) {
    if (error instanceof SchemaError) return undefined;
    throw error;
  }
}

/** An empty list when there are none: no value fits. */
function commonKinds(
  own: readonly Kind[] | undefined,
  outer: readonly Kind[] | undefined,
): readonly Kind[] | undefined {
  if (own === undefined || outer === undefined) return own ?? outer;
  return own.filter((kind) => outer.includes(kind));
}

const widening = ['$ref', 'allOf', 'anyOf', 'oneOf', 'enum'];

/** The width of a type that is not written yet. */
function widthOf(schema: JsonObject): number {
  const type = ownProperty(schema, 'type');
  const isOne = typeof type === 'string' && type !== 'boolean';
  return isOne && !widening.some((keyword) => Object.hasOwn(schema, keyword)) ? 1 : Infinity;
}
