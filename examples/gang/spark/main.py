"""Logistic regression of MLlib on made-up data, on all executors of the cluster."""
import os
import random
import time

from pyspark.ml.classification import LogisticRegression
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("gang").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
executors = int(os.environ["WORLD_SIZE"]) - 1
for _ in range(600):  # The driver is listed among them.
    if spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1 >= executors:
        break
    time.sleep(0.1)
source = random.Random(7)
rows = []
for _ in range(2_000):
    x = [source.gauss(0, 1) for _ in range(4)]
    rows.append((*x, float(x[0] + 2 * x[1] - x[2] + source.gauss(0, 0.3) > 0)))
frame = spark.createDataFrame(rows, ["a", "b", "c", "d", "label"]).repartition(2 * executors)
frame = VectorAssembler(inputCols=["a", "b", "c", "d"], outputCol="features").transform(frame)
model = LogisticRegression(maxIter=20).fit(frame)
hosts = frame.rdd.mapPartitions(lambda _: [__import__("socket").gethostname()]).distinct().collect()
print(f"accuracy {model.summary.accuracy:.3f} with executors on {' '.join(sorted(hosts))}")
spark.stop()
